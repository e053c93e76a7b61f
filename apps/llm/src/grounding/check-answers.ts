import type { GenerationChunk, TokenUsage } from '#contracts';
import type { GenerationEvent } from '#generation';
import type { AnswerCheck, CheckedPiece } from './answer-check.js';

export interface CheckOptions {
  /** Number of answers. */
  readonly choices: number;
  /** A check for one answer. */
  readonly newCheck: () => AnswerCheck;
  /** The usage of a generation that is stopped early, when only the tokens it has written are known. */
  readonly usageSoFar: () => Promise<TokenUsage>;
}

/**
 * Checks each answer of a generation by itself, and stops the generation once every answer is settled. The last chunk
 * carries the usage.
 */
export async function* checkAnswers(
  events: AsyncIterable<GenerationEvent>,
  { choices, newCheck, usageSoFar }: CheckOptions,
): AsyncGenerator<GenerationChunk, void, void> {
  const checks = new Map<number, AnswerCheck>();
  let open = choices;
  let last: GenerationChunk | undefined;
  const refused = new Set<number>();
  for await (const event of events) {
    const { choice, usage, text, logprobs, finishReason, reasoning, toolCalls, refusal } = event;
    if (reasoning !== undefined || toolCalls) yield { choice, text: '', reasoning, toolCalls };
    const check = checks.get(choice) ?? newCheck();
    checks.set(choice, check);
    // A refusal rests on no passage: there is nothing to check in it, and nothing to put in its place.
    if (refusal) refused.add(choice);
    const piece: CheckedPiece & Pick<GenerationChunk, 'refusal'> = refused.has(choice)
      ? { text, finishReason, ...(refusal && { refusal }) }
      : check.push({ text, logprobs, finishReason });
    if (piece.finishReason) open -= 1;
    last = { choice, ...piece, usage };
    if (open === 0) break;
    if (saysSomething(piece)) yield { choice, ...piece };
  }
  if (last && open === 0) yield { ...last, usage: last.usage ?? (await usageSoFar()) };
}

function saysSomething({ text, logprobs, finishReason }: CheckedPiece): boolean {
  return text !== '' || logprobs !== undefined || finishReason !== undefined;
}
