import type { Neighbour } from '#platform/contracts';
import { continuesBlock, partsOf, type ChunkPart } from './chunk.js';
import { tableOf } from './row-table.js';

/** A shorter repetition at the border of two chunks may be a coincidence. */
const minOverlap = 12;

/** Chunks that follow each other as one text in Markdown. Text that the next chunk repeats is shown once. */
export function renderChunks(chunks: readonly Pick<Neighbour, 'text' | 'metadata'>[]): string {
  const parts: ChunkPart[] = [];
  for (const chunk of chunks) {
    const own = partsOf(chunk);
    const [first, ...rest] = withoutRepeated(parts, own);
    const last = parts.at(-1);
    if (!first) continue;
    const isFirst = rest.length === own.length - 1;
    if (last && isFirst && continuesBlock(chunk) && last.kind === first.kind)
      parts[parts.length - 1] = joined(last, first);
    else parts.push(first);
    parts.push(...rest);
  }
  const texts: string[] = [];
  let at = 0;
  while (at < parts.length) {
    const { kind } = parts[at]!;
    const end = parts.findIndex((part, index) => index > at && part.kind !== kind);
    const run = parts.slice(at, end === -1 ? undefined : end).map(({ text }) => text);
    texts.push(renderRun(kind, run));
    at += run.length;
  }
  return texts.join('\n\n');
}

function joined({ kind, text }: ChunkPart, next: ChunkPart): ChunkPart {
  return { kind, text: `${text}${kind === 'code' ? '\n' : ' '}${next.text}` };
}

function renderRun(kind: ChunkPart['kind'], run: readonly string[]): string {
  switch (kind) {
    case 'row':
      return tableOf(run) ?? run.join('\n');
    case 'item':
      return run.map((item) => (/^(?:[-*•]|\d+[.)])\s/.test(item) ? item : `- ${item}`)).join('\n');
    case 'code':
      return run.map(fenced).join('\n\n');
    default:
      return run.join('\n\n');
  }
}

/** Puts code between fences that are longer than any run of backticks in it. */
export function fenced(code: string): string {
  const longest = Math.max(2, ...(code.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${code}\n${fence}`;
}

/** The number of parts at the beginning of a chunk that are the end of the parts before it. */
export function repeatedParts(before: readonly ChunkPart[], next: readonly ChunkPart[]): number {
  for (let count = Math.min(before.length, next.length); count > 0; count -= 1)
    if (next.slice(0, count).every(({ text }, index) => before[before.length - count + index]!.text === text))
      return count;
  return 0;
}

/** The parts of a chunk without those that repeat the end of the text before: chunks may overlap. */
function withoutRepeated(before: readonly ChunkPart[], next: readonly ChunkPart[]): ChunkPart[] {
  const count = repeatedParts(before, next);
  if (count > 0) return next.slice(count);
  const [first, ...rest] = next;
  const last = before.at(-1);
  if (!first || !last || first.kind !== 'paragraph' || last.kind !== 'paragraph') return [...next];
  const text = first.text.slice(overlap(last.text, first.text)).trimStart();
  return text === '' ? rest : [{ ...first, text }, ...rest];
}

/** Number of characters at the end of a text with which another text begins. */
function overlap(before: string, next: string): number {
  for (let length = Math.min(before.length, next.length); length >= minOverlap; length -= 1)
    if (before.endsWith(next.slice(0, length))) return length;
  return 0;
}
