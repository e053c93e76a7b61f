import { collapseWhitespace } from './collapse-whitespace.js';
import { IndentedOutline } from './indented-outline.js';
import type { DocumentBlock, ParsedDocument } from './parsed-document.js';

const listMarker = /^\s*(?:[-*•‣◦+]|\d{1,3}[.)]|[a-z]\))\s+(?=\S)/;
const bulletMarker = /^\s*[-*•‣◦+]\s+/;
const underline = /^\s*(={3,}|-{3,}|~{3,})\s*$/;

/** Texts are not wrapped at fewer characters. */
const leastMargin = 40;

/**
 * Plain text: blank lines separate paragraphs, an underlined line is a heading, a marked line a list item, and a line above
 * deeper ones the heading of them. Lines that were wrapped at a margin are joined; a line end that was no wrap (the next
 * word would have fitted) stays one.
 */
export function readPlainText(text: string): ParsedDocument {
  const groups = text
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll('\f', '\n\n')
    .split(/\n[^\S\n]*\n/)
    .map((group) => group.split('\n').filter((line) => line.trim()));
  const outline = new IndentedOutline(readGroup);
  const [first = [], ...others] = groups;
  const start = outline.read(first);
  const blocks = others.flatMap((group) => outline.read(group));
  const title = blocks.some(({ kind }) => kind === 'heading') ? titleOf(first) : undefined;
  if (title === undefined) return { blocks: [...start, ...blocks] };
  return { title, blocks: [{ kind: 'heading', level: 1, text: title }, ...blocks] };
}

/** Words of a title. */
const mostTitleWords = 12;

/** A short line by itself, which does not end as a sentence does; of a text with headings the title. */
function titleOf([line = '', ...others]: readonly string[]): string | undefined {
  const text = collapseWhitespace(line);
  if (others.length > 0 || listMarker.test(line) || /[.,;:!?]$/.test(text)) return undefined;
  return text !== '' && text.split(' ').length <= mostTitleWords ? text : undefined;
}

function readGroup(lines: string[]): DocumentBlock[] {
  const blocks: DocumentBlock[] = [];
  let begin = 0;
  const readUntil = (end: number) => {
    for (const block of joinWrapped(lines.slice(begin, end))) blocks.push(block);
  };
  for (let at = 1; at < lines.length; at += 1) {
    const line = lines[at]!;
    if (at === begin || !underline.test(line)) continue;
    readUntil(at - 1);
    const level = line.includes('=') ? 1 : 2;
    blocks.push({ kind: 'heading', level, text: collapseWhitespace(lines[at - 1]!) });
    begin = at + 1;
  }
  readUntil(lines.length);
  return blocks;
}

function joinWrapped(lines: string[]): DocumentBlock[] {
  const isContinuation = wrapTest(lines);
  const blocks: DocumentBlock[] = [];
  lines.forEach((line, index) => {
    const before = blocks.at(-1);
    const isItem = listMarker.test(line);
    const text = collapseWhitespace(line.replace(bulletMarker, ''));
    if (before && !isItem && isContinuation(index)) before.text += ` ${text}`;
    else blocks.push({ kind: isItem ? 'list-item' : 'paragraph', text });
  });
  return blocks.filter((block) => block.text);
}

/** Tells whether a line goes on with the one before it. Where most line ends are no wraps, none is. */
function wrapTest(lines: string[]): (index: number) => boolean {
  const width = lines.reduce((longest, line) => Math.max(longest, line.trimEnd().length), 0);
  const wrapped = lines.map((line, index) => index > 0 && wasWrapped(lines[index - 1] ?? '', line, width));
  const share = wrapped.filter(Boolean).length / Math.max(1, lines.length - 1);
  return (index) => width >= leastMargin && share > 0.5 && wrapped[index] === true;
}

function wasWrapped(line: string, next: string, width: number): boolean {
  const nextWord = /\S+/.exec(next)?.[0].length ?? 0;
  return line.trimEnd().length + 1 + nextWord > width;
}
