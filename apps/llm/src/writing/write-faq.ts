import type { GenerationChunk, TokenUsage } from '#contracts';
import { cutIntoPieces } from './pieces.js';
import type { TextWriter } from './text-writer.js';
import { UsageSum } from './usage-sum.js';

export interface FaqRequest {
  text: string;
  /** Most questions. */
  count: number;
  pieceWords?: number;
  overlapWords?: number;
}

/** Streams the questions of a text and their answers, piece after piece where it is too long for one step. */
export async function* writeFaqOf(
  request: FaqRequest,
  writer: TextWriter,
  signal: AbortSignal,
): AsyncGenerator<GenerationChunk, void, void> {
  const pieces = await piecesOf(request, writer);
  const sum = new UsageSum();
  let last: { usage?: TokenUsage; finishReason?: GenerationChunk['finishReason']; model?: string } = {};
  let separator = '';
  for (const { text, count } of shareOut(pieces, request.count)) {
    for await (const chunk of sum.addTo(writer.write({ kind: 'faq', text, count }, signal))) {
      const { usage, finishReason, model, ...rest } = chunk;
      last = {
        ...last,
        ...(usage && { usage }),
        ...(finishReason && { finishReason }),
        ...(model && { model }),
      };
      if (rest.text === '') continue;
      yield separator ? { ...rest, text: separator + rest.text.trimStart() } : rest;
      separator = '';
    }
    separator = '\n\n';
  }
  yield { choice: 0, text: '', finishReason: 'stop', ...last };
}

async function piecesOf(
  { text, pieceWords, overlapWords }: FaqRequest,
  writer: TextWriter,
): Promise<string[]> {
  if (pieceWords === undefined && (await writer.fits(text))) return [text];
  return cutIntoPieces(text, Math.min(pieceWords ?? writer.pieceWords, writer.pieceWords), overlapWords);
}

/** Where there are more pieces than questions, the questions are spread over the whole text. */
function shareOut(pieces: readonly string[], count: number): { text: string; count: number }[] {
  const asked = Math.min(pieces.length, count);
  return Array.from({ length: asked }, (_unused, index) => {
    const text = pieces[Math.floor((index * pieces.length) / asked)] ?? '';
    return { text, count: Math.floor(((index + 1) * count) / asked) - Math.floor((index * count) / asked) };
  });
}
