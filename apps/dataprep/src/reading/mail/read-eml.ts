import PostalMime, { type Attachment, type Email } from 'postal-mime';
import {
  collapseWhitespace,
  type DocumentBlock,
  type ParsedDocument,
  type PartReader,
  type ReadingLimits,
  type ReadingWarning,
  type SourceFile,
} from '../parsed-document.js';
import { readHtml } from '../read-html.js';
import { readPlainText } from '../read-plain-text.js';
import { withEarlierMails, withoutQuoteMarks } from './quoted-mail.js';

/** Limit for the attachments of a mail that are read. */
const maxAttachments = 100;
const headingLevels = { mail: 1, attachment: 2 };

/**
 * Reads a mail: the subject as a heading; sender, recipients and date; the text; each attachment as a section under its
 * name. An attachment that cannot be read becomes a warning. A saved web page is a mail as well.
 */
export async function readEml(
  { bytes, keepRevisions }: SourceFile,
  _limits: ReadingLimits,
  readPart: PartReader,
): Promise<ParsedDocument> {
  const mail = await PostalMime.parse(bytes);
  const title = collapseWhitespace(mail.subject ?? '');
  const date = dayOf(mail);
  const blocks: DocumentBlock[] = title ? [{ kind: 'heading', level: headingLevels.mail, text: title }] : [];
  const facts = factsOf(mail, date);
  if (facts) blocks.push({ kind: 'paragraph', text: facts });
  const { text, html } = mail;
  const body = text?.trim()
    ? readPlainText(withoutQuoteMarks(text))
    : readHtml(html ?? '', { keepRevisions });
  for (const block of withEarlierMails(body.blocks)) blocks.push(block);
  const attached = await readAttachments(mail.attachments, { keepRevisions }, readPart);
  for (const block of attached.blocks) blocks.push(block);
  const warnings = [...(body.warnings ?? []), ...attached.warnings];
  return {
    ...(title && { title }),
    ...(date && { date }),
    blocks,
    ...(attached.read > 0 && { facts: { attachments: attached.read } }),
    ...(warnings.length > 0 && { warnings }),
  };
}

/** The line with which each mail of a mailbox begins. */
const mailBorder = /^From \S.*\d{4}\r?$/m;

/** Reads a mailbox: its mails one after the other. */
export async function readMbox(
  file: SourceFile,
  limits: ReadingLimits,
  readPart: PartReader,
): Promise<ParsedDocument> {
  const source = Buffer.from(file.bytes).toString('latin1');
  const mails = source.split(new RegExp(mailBorder, 'gm')).filter((mail) => mail.trim() !== '');
  const blocks: DocumentBlock[] = [];
  const warnings: ReadingWarning[] = [];
  let attachments = 0;
  for (const mail of mails) {
    const text = mail.replace(/^\r?\n/, '').replaceAll(/^>(>*From )/gm, '$1');
    const bytes = new Uint8Array(Buffer.from(text, 'latin1'));
    const read = await readEml({ ...file, bytes }, limits, readPart);
    if (read.title === undefined) blocks.push({ kind: 'heading', level: 1, text: '', ends: true });
    for (const block of read.blocks) blocks.push(block);
    warnings.push(...(read.warnings ?? []));
    attachments += read.facts?.attachments ?? 0;
  }
  return { blocks, facts: { mails: mails.length, attachments }, warnings };
}

function factsOf({ from, to, cc }: Email, date: string | undefined): string {
  const people = (name: string, list: Email['to']) =>
    list?.length && `${name}: ${list.map(named).join(', ')}`;
  return [from && `From: ${named(from)}`, people('To', to), people('Cc', cc), date && `Date: ${date}`]
    .filter(Boolean)
    .join('; ');
}

const months = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
const senderDate = /(\d{1,2})\s+([a-z]{3})[a-z]*\s+(\d{4})/i;

/** The day on which the mail was sent where its sender is, in ISO form. */
function dayOf({ headers, date }: Email): string | undefined {
  const header = headers.find(({ key }) => key === 'date')?.value ?? '';
  const [, day = '', month = '', year = ''] = senderDate.exec(header) ?? [];
  const number = months.indexOf(month.toLowerCase()) + 1;
  if (number > 0) return [year, String(number).padStart(2, '0'), day.padStart(2, '0')].join('-');
  return date?.slice(0, 10);
}

async function readAttachments(
  attachments: readonly Attachment[],
  options: Pick<SourceFile, 'keepRevisions'>,
  readPart: PartReader,
): Promise<{ blocks: DocumentBlock[]; warnings: ReadingWarning[]; read: number }> {
  const blocks: DocumentBlock[] = [];
  const warnings: ReadingWarning[] = [];
  let read = 0;
  // Pictures and styles within the text of a mail or a page are not attachments.
  const own = attachments.filter(
    ({ disposition, mimeType }) =>
      disposition === 'attachment' || !/^(?:image\/|font\/|text\/css)/.test(mimeType),
  );
  for (const [at, { filename, mimeType, content }] of own.entries()) {
    const name = filename ?? `${at + 1}`;
    try {
      if (at >= maxAttachments) throw new Error(`the mail has more than ${maxAttachments}`);
      const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : new Uint8Array(content);
      const part = await readPart({ bytes, filename: name, mimeType, ...options });
      blocks.push({ kind: 'heading', level: headingLevels.attachment, text: `Attachment ${name}` });
      for (const block of part.blocks) blocks.push(within(block));
      warnings.push(
        ...(part.warnings ?? []).map(({ code, message }) => ({ code, message: `${name}: ${message}` })),
      );
      read += 1;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      warnings.push({
        code: 'attachment_skipped',
        message: `The attachment ${name} was not read: ${reason}`,
      });
    }
  }
  return { blocks, warnings, read };
}

/** A block of an attachment: its headings are below the heading of the attachment, and its pages are not those of the mail. */
function within({ page: _page, ...block }: DocumentBlock): DocumentBlock {
  return block.kind === 'heading'
    ? { ...block, level: (block.level ?? 1) + headingLevels.attachment }
    : block;
}

function named({ name, address }: { name?: string; address?: string }): string {
  return collapseWhitespace(name && address ? `${name} <${address}>` : (name ?? '') || (address ?? ''));
}
