import PostalMime from 'postal-mime';
import {
  collapseWhitespace,
  type DocumentBlock,
  type ParsedDocument,
  type SourceFile,
} from './parsed-document.js';
import { readHtml } from './read-html.js';
import { readPlainText } from './read-plain-text.js';

/** Reads a mail: the subject as a heading; sender, recipients and date; the text. Attachments are left out. */
export async function readEml({ bytes }: SourceFile): Promise<ParsedDocument> {
  const { subject, from, to, date, text, html } = await PostalMime.parse(bytes);
  const title = collapseWhitespace(subject ?? '');
  const head: DocumentBlock[] = title ? [{ kind: 'heading', level: 1, text: title }] : [];
  const facts = [
    from && `From: ${named(from)}`,
    to?.length && `To: ${to.map(named).join(', ')}`,
    date && `Date: ${date.slice(0, 10)}`,
  ].filter(Boolean);
  if (facts.length > 0) head.push({ kind: 'paragraph', text: facts.join('; ') });
  const body = text?.trim() ? readPlainText(text) : readHtml(html ?? '');
  return {
    ...(title && { title }),
    ...(date && { date: date.slice(0, 10) }),
    blocks: [...head, ...body.blocks],
  };
}

function named({ name, address }: { name?: string; address?: string }): string {
  return collapseWhitespace(name && address ? `${name} <${address}>` : (name ?? '') || (address ?? ''));
}
