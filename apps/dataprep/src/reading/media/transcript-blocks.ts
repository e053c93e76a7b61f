import type { TranscriptSegment } from '#platform/contracts';
import type { DocumentBlock } from '../parsed-document.js';

/** A pause that ends a paragraph; seconds after which a sentence ends it, and after which any segment does. */
const [pause, usual, longest] = [1.5, 10, 30];
const sentenceEnd = /[.!?。！？…]["'”’»)]*$/u;

type Segment = Pick<TranscriptSegment, 'start' | 'end' | 'text' | 'joined'>;

/**
 * The segments of a transcript as paragraphs with their times in seconds: about one for each ten seconds, at the end of a sentence or
 * at a pause.
 */
export function transcriptBlocks(segments: readonly Segment[]): DocumentBlock[] {
  const blocks: (DocumentBlock & { time: { start: number; end: number } })[] = [];
  for (const { start, end, text, joined } of segments) {
    if (text.trim() === '') continue;
    const last = blocks.at(-1);
    if (last && !isBorder(last, { start, end })) {
      last.text += (joined ? '' : ' ') + text.trim();
      last.time.end = Math.max(last.time.end, end);
    } else blocks.push({ kind: 'paragraph', text: text.trim(), time: { start, end } });
  }
  return blocks;
}

function isBorder(
  { text, time }: { text: string; time: { start: number; end: number } },
  next: Pick<Segment, 'start' | 'end'>,
): boolean {
  if (next.start - time.end > pause || next.end - time.start > longest) return true;
  return time.end - time.start >= usual && sentenceEnd.test(text);
}
