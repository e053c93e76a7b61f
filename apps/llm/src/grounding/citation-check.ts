import type { Citation, GenerationChunk, TokenLogprob, TokenUsage } from '#contracts';
import type { GenerationEvent } from '#generation';
import type { Passage } from './grounded-prompt.js';
import { sentencesOf } from './sentences.js';

/** What a check lets through of one answer. */
interface CheckedPiece {
  readonly text: string;
  /** Of the model's tokens that are part of the text. */
  readonly logprobs?: TokenLogprob[];
  /** On the last piece; what the model says afterwards is not wanted any more. */
  readonly finishReason?: GenerationEvent['finishReason'];
  readonly citations?: Citation[];
}

/** `[1]`, `[1, 2]` */
const marker = /\[(\d{1,4}(?:\s*,\s*\d{1,4})*)\]/g;

/**
 * Follows one answer of the model while it is written, and lets it through as it is; at its end the markers `[n]` in it are
 * resolved to the passages they name.
 */
export class CitationCheck {
  #answer = '';

  constructor(private readonly passages: readonly Passage[]) {}

  push({
    text,
    logprobs,
    finishReason,
  }: Pick<GenerationEvent, 'text' | 'logprobs' | 'finishReason'>): CheckedPiece {
    this.#answer += text;
    const piece = { text, ...(logprobs && { logprobs }) };
    if (!finishReason) return piece;
    const citations = findCitations(this.#answer, this.passages);
    return { ...piece, finishReason, ...(citations.length > 0 && { citations }) };
  }
}

/**
 * One citation per marker and number: its quote is the sentence that the marker ends, as it stands in the answer.
 * Numbers without a passage and markers without a sentence before them give none.
 */
export function findCitations(answer: string, passages: readonly Passage[]): Citation[] {
  const citations: Citation[] = [];
  let statement = { startIndex: 0, endIndex: 0 };
  let previousEnd = 0;
  for (const match of answer.matchAll(marker)) {
    statement = lastSentence(answer, previousEnd, match.index) ?? statement;
    previousEnd = match.index + match[0].length;
    const quote = answer.slice(statement.startIndex, statement.endIndex);
    if (quote === '') continue;
    for (const number of match[1]!.split(',').map(Number)) {
      const passage = passages.find((candidate) => candidate.number === number);
      if (passage) citations.push({ ...statement, passage: number, documentId: passage.documentId, quote });
    }
  }
  return citations;
}

/** Where the last sentence between two markers stands; undefined when there are no words between them. */
function lastSentence(answer: string, from: number, to: number) {
  const between = answer.slice(from, to).trimEnd();
  const sentence = sentencesOf(between).findLast((candidate) => /[\p{L}\p{N}]/u.test(candidate));
  if (!sentence) return undefined;
  // Sentences are normalised, so the answer is searched for the last one's words.
  const words = sentence.replace(/^[^\p{L}\p{N}]+/u, '').split(' ');
  const pattern = new RegExp(words.map(escapePattern).join(String.raw`\s+`), 'gu');
  const index = [...between.matchAll(pattern)].at(-1)?.index ?? 0;
  return { startIndex: from + index, endIndex: from + between.length };
}

function escapePattern(word: string): string {
  return word.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}

/** An answer that is not checked. */
export async function* passThrough(
  events: AsyncIterable<GenerationEvent>,
): AsyncGenerator<GenerationChunk, void, void> {
  for await (const { tokenIds: _tokenIds, prompt: _prompt, ...chunk } of events) yield chunk;
}

export interface CheckOptions {
  /** Number of answers. */
  readonly choices: number;
  /** What the answers may cite. */
  readonly passages: readonly Passage[];
  /** The usage of a generation that is stopped early, when only the tokens it has written are known. */
  readonly usageSoFar: () => Promise<TokenUsage>;
}

/**
 * Checks each answer of a generation by itself, and stops the generation once every answer is settled. The last chunk
 * carries the usage.
 */
export async function* checkAnswers(
  events: AsyncIterable<GenerationEvent>,
  { choices, passages, usageSoFar }: CheckOptions,
): AsyncGenerator<GenerationChunk, void, void> {
  const checks = new Map<number, CitationCheck>();
  let open = choices;
  let last: GenerationChunk | undefined;
  const refused = new Set<number>();
  for await (const event of events) {
    const { choice, usage, text, logprobs, finishReason, reasoning, toolCalls, refusal } = event;
    if (reasoning !== undefined || toolCalls) yield { choice, text: '', reasoning, toolCalls };
    const check = checks.get(choice) ?? new CitationCheck(passages);
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
