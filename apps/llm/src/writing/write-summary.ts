import { countWords, firstWords, gatherInTurns, sentencesIn } from '#platform/foundation';
import type { GenerationChunk, SummaryType } from '#platform/contracts';
import { UsageSum, type TextWriter, type WritingStep } from './text-writer.js';

export interface SummaryRequest {
  text: string;
  type: SummaryType;
  /** Words of a piece; absent: the limit of the writer. */
  pieceWords?: number;
  overlapWords?: number;
}

/** Limit for the concurrent pieces; the engine batches concurrent requests. */
const breadth = 4;

/**
 * Summarizes a text in as many steps as its type and length need, and streams the last step with the usage of all
 * steps. Errors: context_length_exceeded for `stuff` with a text that is too long; the errors of the writer.
 */
export async function* writeSummary(
  request: SummaryRequest,
  writer: TextWriter,
  signal: AbortSignal,
): AsyncGenerator<GenerationChunk, void, void> {
  const steps = new Steps(request, writer, signal);
  const last = await steps.untilLast();
  yield* steps.usage.addTo(writer.write(last, signal));
}

class Steps {
  readonly usage = new UsageSum();

  constructor(
    private readonly request: SummaryRequest,
    private readonly writer: TextWriter,
    private readonly signal: AbortSignal,
  ) {}

  /** Carries out all steps except the last one, and returns that one. */
  async untilLast(): Promise<WritingStep> {
    const { text, type } = this.request;
    const whole: WritingStep = { kind: 'summary', text };
    if (type === 'stuff') return whole;
    if (type === 'truncate') return { kind: 'summary', text: await this.beginningOf(text) };
    if (type === 'auto' && (await this.writer.fits(text))) return whole;
    const pieces = await this.cut(text);
    if (pieces.length < 2) return whole;
    return type === 'refine' ? this.refine(pieces) : this.combine(pieces);
  }

  private cut(text: string): Promise<string[]> {
    const { pieceWords = this.writer.pieceWords, overlapWords } = this.request;
    return cutIntoPieces(
      text,
      { size: Math.min(pieceWords, this.writer.pieceWords), overlap: overlapWords },
      this.signal,
    );
  }

  private async refine(pieces: readonly string[]): Promise<WritingStep> {
    const [first = '', ...rest] = pieces;
    const last = rest.pop() ?? '';
    let before = await this.gather({ kind: 'part', text: first });
    for (const text of rest) before = await this.gather({ kind: 'refinement', before, text });
    return { kind: 'refinement', before, text: last };
  }

  /** Combines summaries. Summaries that are too long together are summarized again, as long as they become shorter. */
  private async combine(pieces: readonly string[]): Promise<WritingStep> {
    const parts = await this.gatherAll(pieces);
    const text = parts.join('\n\n');
    if (await this.writer.fits(text)) return { kind: 'combination', text };
    const further = await this.cut(text);
    if (further.length < pieces.length) return this.combine(further);
    return { kind: 'combination', text: await this.beginningOf(text) };
  }

  private async gatherAll(pieces: readonly string[]): Promise<string[]> {
    const parts: string[] = [];
    for (let first = 0; first < pieces.length; first += breadth) {
      const together = pieces.slice(first, first + breadth);
      parts.push(...(await Promise.all(together.map((text) => this.gather({ kind: 'part', text })))));
    }
    return parts;
  }

  private async gather(step: WritingStep): Promise<string> {
    let text = '';
    for await (const chunk of this.writer.write(step, this.signal)) {
      text += chunk.text;
      if (chunk.usage) this.usage.add(chunk.usage);
    }
    return text.trim();
  }

  /** As many of the first words as fit, with a precision of one thirty-second. */
  private async beginningOf(text: string): Promise<string> {
    if (await this.writer.fits(text)) return text;
    let fitting = Math.min(this.writer.pieceWords, countWords(text));
    let tooMany = countWords(text);
    while (tooMany - fitting > Math.max(1, fitting / 32)) {
      const middle = Math.floor((fitting + tooMany) / 2);
      if (await this.writer.fits(firstWords(text, middle))) fitting = middle;
      else tooMany = middle;
    }
    return firstWords(text, fitting);
  }
}

/**
 * Cuts a text at sentence borders into pieces of at most `size` words. A longer sentence is cut at words. Each piece
 * begins with the last whole sentences of the previous one, with at most `overlap` words. Errors: the reason of the
 * signal.
 */
export async function cutIntoPieces(
  text: string,
  { size, overlap = 0 }: { size: number; overlap?: number },
  signal: AbortSignal,
): Promise<string[]> {
  const units = await gatherInTurns(unitsOf(text, size), signal);
  const pieces: string[][] = [];
  let open: string[] = [];
  let words = 0;
  for (const unit of units) {
    const length = countWords(unit);
    if (words + length > size && open.length > 0) {
      pieces.push(open);
      open = tailOf(open, Math.min(overlap, size - length));
      words = countWords(open.join(' '));
    }
    open.push(unit);
    words += length;
  }
  if (open.length > 0) pieces.push(open);
  return pieces.map((piece) => piece.join(' '));
}

function* unitsOf(text: string, size: number): Generator<string, void, void> {
  for (const sentence of sentencesIn(text)) yield* cutAtWords(sentence, size);
}

function cutAtWords(sentence: string, size: number): string[] {
  const words = sentence.match(/\S+/g) ?? [];
  const cuts: string[] = [];
  for (let first = 0; first < words.length; first += size)
    cuts.push(words.slice(first, first + size).join(' '));
  return cuts;
}

function tailOf(sentences: readonly string[], words: number): string[] {
  const tail: string[] = [];
  let left = words;
  for (const sentence of sentences.toReversed()) {
    left -= countWords(sentence);
    if (left < 0) break;
    tail.unshift(sentence);
  }
  return tail;
}
