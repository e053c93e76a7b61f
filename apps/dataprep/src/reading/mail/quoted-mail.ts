import type { DocumentBlock } from '../parsed-document.js';

/** The marks of a line that an answer quotes: `> `, `>> `, `> > `. */
const marks = /^[^\S\n]*(?:>[^\S\n]?)+/;
/** `On 3 May 2026, Ada wrote:`, `Am 3. Mai schrieb Ada:`, `-----Original Message-----`. */
const attribution =
  /^(?:on\s.{4,150}\swrote|am\s.{4,150}\sschrieb(?:\s.{1,80})?|le\s.{4,150}\sa\sécrit|el\s.{4,150}\sescribió)\s*:$|^-{2,}\s*(?:original message|forwarded message|ursprüngliche nachricht|weitergeleitete nachricht)\s*-{2,}$/isu;
/** The last line of an attribution, which may be wrapped. */
const attributionEnd = /(?:\swrote|\sschrieb(?:\s.{1,80})?|\sa\sécrit|\sescribió)\s*:\s*$/u;
/** The level of an earlier mail in an answer, below the subject. */
const earlierLevel = 2;

/**
 * The text of a mail without the marks of the lines that it quotes. A blank line separates the texts of
 * different mails where their depth changes, and who wrote a mail from its text.
 */
export function withoutQuoteMarks(text: string): string {
  let depth = 0;
  const lines = text.split(/\r?\n/).flatMap((line) => {
    const found = marks.exec(line)?.[0] ?? '';
    const own = found.replaceAll(/[^>]/g, '').length;
    const isBorder = own !== depth;
    depth = own;
    const bare = own === 0 ? line : line.slice(found.length);
    const separated = isBorder ? ['', bare] : [bare];
    return attributionEnd.test(bare) ? [...separated, ''] : separated;
  });
  return lines.join('\n');
}

/** Makes headings of the paragraphs that say who wrote the earlier mail below. */
export function withEarlierMails(blocks: readonly DocumentBlock[]): DocumentBlock[] {
  return blocks.map((block) =>
    block.kind === 'paragraph' && attribution.test(block.text)
      ? {
          kind: 'heading',
          level: earlierLevel,
          text: block.text.replace(/:$/, '').replaceAll(/^-+\s*|\s*-+$/g, ''),
        }
      : block,
  );
}
