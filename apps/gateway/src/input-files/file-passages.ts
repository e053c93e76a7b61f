import { createHash } from 'node:crypto';
import type { AttachedFile, RetrievedDocument } from '#platform/contracts';
import { splitSentences } from '#platform/foundation';

/** Characters of a passage: the bundled reranker reads 100 words. */
const passageCharacters = 500;

const heading = /^(#{1,6})\s+(.*?)\s*#*$/;
const item = /^\s*(?:[-*•+]|\d{1,3}[.)])\s+\S/;
/** `Total: 420 EUR`, as in invoices and forms. */
const field = /^\s*\p{L}[\p{L}\p{N} ./()-]{0,40}:\s+\S/u;
const row = /^\s*\|.*\|\s*$/;
const rule = /^[\s|:+=-]+$/;
const fence = /^\s*(?:```|~~~)/;

/** A part of a file below the same headings, with its kind as in the metadata `blocks` of ingested passages. */
interface Block {
  text: string;
  kind: 'p' | 'i' | 'r' | 'c';
  headings: readonly string[];
}

/**
 * The passages of a file in its order: whole blocks below the same headings, as long as they fit. Their metadata has
 * `attached`, because they are not passages of a search. A passage of a file that is only in the request has an id that
 * no document has.
 */
export function passagesOf({
  filename,
  id,
  url,
  text,
}: AttachedFile & { text: string }): RetrievedDocument[] {
  const key = createHash('sha256').update(`${filename}\n${text}`).digest('hex').slice(0, 24);
  const isMarkdown = /\.(?:md|markdown|mdown)$/i.test(filename);
  return groupsOf(blocksOf(text, isMarkdown)).map((blocks, index) => ({
    id: `attached-${key}-${index}`,
    text: blocks.map((block) => block.text).join('\n\n'),
    score: 0,
    metadata: {
      document_id: id ?? `attached-${key}`,
      filename,
      chunk_index: index,
      attached: true,
      blocks: blocks.map(({ kind }) => kind).join(''),
      ...(blocks[0]!.headings.length > 0 && { heading: blocks[0]!.headings.join(' > ') }),
      ...(url !== undefined && { source: url }),
    },
  }));
}

/** Fills passages with blocks below the same headings. */
function groupsOf(blocks: readonly Block[]): Block[][] {
  const groups: Block[][] = [];
  let room = 0;
  for (const block of blocks) {
    const group = groups.at(-1);
    const length = block.text.length + 2;
    if (group && length <= room && group[0]!.headings === block.headings) group.push(block);
    else {
      groups.push([block]);
      room = passageCharacters;
    }
    room -= length;
  }
  return groups;
}

/**
 * Splits a text into paragraphs, items, rows of tables and code, and a block that is too long between its sentences.
 * Only Markdown has headings: in other files `#` may begin a comment.
 */
function blocksOf(text: string, isMarkdown: boolean): Block[] {
  const reader = new BlockReader(isMarkdown);
  for (const line of text.split(/\r?\n/)) reader.take(line);
  return reader.end();
}

class BlockReader {
  readonly #blocks: Block[] = [];
  #headings: readonly string[] = [];
  /** The last heading has no block and no other heading below it yet. */
  #isBare = false;
  #lines: string[] = [];
  #kind: Block['kind'] = 'p';
  #isFenced = false;

  constructor(private readonly isMarkdown: boolean) {}

  take(line: string): void {
    const isFence = this.isMarkdown && fence.test(line);
    if (isFence) {
      this.#flush();
      this.#isFenced = !this.#isFenced;
      this.#kind = this.#isFenced ? 'c' : 'p';
    } else if (this.#isFenced) {
      if (line.trim() !== '') this.#lines.push(line);
    } else this.#takeText(line);
  }

  end(): Block[] {
    this.#endSection(1);
    return this.#blocks;
  }

  /** Keeps a heading without a text below it as a paragraph, unless the next heading, at `level`, is below it. */
  #endSection(level: number): void {
    this.#flush();
    if (!this.#isBare || level > this.#headings.length) return;
    this.#blocks.push({ text: this.#headings.at(-1)!, kind: 'p', headings: this.#headings.slice(0, -1) });
  }

  #takeText(line: string): void {
    const titled = this.isMarkdown ? heading.exec(line) : undefined;
    if (titled) {
      const level = titled[1]!.length;
      this.#endSection(level);
      this.#headings = [...this.#headings.slice(0, level - 1), titled[2]!];
      this.#isBare = true;
    } else if (line.trim() === '' || rule.test(line)) this.#flush();
    else if (row.test(line)) this.#begin('r', line.trim().slice(1, -1).trim());
    else if (item.test(line)) this.#begin('i', line.replace(/^\s*(?:[-*•+]|\d{1,3}[.)])\s+/, ''));
    else if (field.test(line)) this.#begin('p', line);
    else this.#lines.push(line);
  }

  #begin(kind: Block['kind'], line: string): void {
    this.#flush();
    this.#kind = kind;
    this.#lines.push(line);
  }

  #flush(): void {
    const text = this.#lines.join('\n').trim();
    const [kind, headings] = [this.#kind, this.#headings];
    this.#lines = [];
    this.#kind = 'p';
    if (text === '') return;
    this.#isBare = false;
    for (const piece of piecesOf(text)) this.#blocks.push({ text: piece, kind, headings });
  }
}

/** The sentences of a block that is longer than a passage, joined up to this length. */
function piecesOf(text: string): string[] {
  if (text.length <= passageCharacters) return [text];
  const pieces: string[] = [''];
  for (const sentence of splitSentences(text)) {
    if (pieces.at(-1)!.length + sentence.length > passageCharacters) pieces.push('');
    for (let at = 0; at < sentence.length; at += passageCharacters) {
      if (at > 0) pieces.push('');
      pieces[pieces.length - 1] += sentence.slice(at, at + passageCharacters);
    }
  }
  return pieces.map((piece) => piece.trim()).filter((piece) => piece !== '');
}
