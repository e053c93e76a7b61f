import type { Citation, GenerationChunk, TokenLogprob, TokenUsage } from '#contracts';
import type { GenerationEvent } from '#generation';
import { escapePattern } from '#text';
import { byNumber, CitationNumbers } from './citation-numbers.js';
import type { Passage } from './passages.js';
import { sentencesOf } from './sentences.js';

/** A checked piece of one answer. */
interface CheckedPiece {
  readonly text: string;
  /** Log probabilities of the model's tokens in the text. */
  readonly logprobs?: TokenLogprob[];
  /** Set on the last piece; later text of the model is discarded. */
  readonly finishReason?: GenerationEvent['finishReason'];
  /** The first citation of each passage comes with its number, so that a stopped answer keeps it. */
  readonly citations?: Citation[];
}

/** `[1]`, `[1, 2]` */
const marker = /\[(\d{1,4}(?:\s*,\s*\d{1,4})*)\]/g;

/** The beginning of a marker at the end of a text. */
const openMarker = /\[(?:\d{1,4}(?:\s*,\s*\d{0,4})*)?\s*$/;

/**
 * Passes one answer of the model on while it is written. The numbers `[n]` of passages change to their order of use, and
 * are resolved: the first citation of a passage at once, repeated citations at the end. Numbers in code stay, and the
 * text that says that the passages hold no answer gets no number.
 */
export class CitationCheck {
  #answer = '';
  /** The beginning of a marker whose rest is not written yet. */
  #held = '';
  readonly #numbers = new CitationNumbers();
  readonly #used = new Map<number, Passage>();
  readonly #passages: ReadonlyMap<number, Passage>;
  /** Citations that were passed on: number n is the n-th one. */
  #cited = 0;
  /** Numbers in use when citations were looked for last. */
  #seen = 0;

  constructor(
    passages: readonly Passage[],
    private readonly noAnswer?: string,
  ) {
    this.#passages = new Map(passages.map((passage) => [passage.number, passage]));
  }

  push({
    text: written,
    logprobs,
    finishReason,
  }: Pick<GenerationEvent, 'text' | 'logprobs' | 'finishReason'>): CheckedPiece {
    const text = this.#renumber(this.#held + written, finishReason !== undefined);
    const piece = { text, ...(logprobs && { logprobs }) };
    const citations = finishReason ? this.#resolve().slice(this.#cited) : this.#firstCitations();
    this.#cited += citations.length;
    return {
      ...piece,
      ...(finishReason && { finishReason }),
      ...(citations.length > 0 && { citations }),
    };
  }

  #resolve(): Citation[] {
    return byNumber(findCitations(this.#answer, [...this.#used.values()]));
  }

  /** The first citations of the next numbers, as far as each number before them has one. */
  #firstCitations(): Citation[] {
    if (this.#seen === this.#used.size) return [];
    this.#seen = this.#used.size;
    const further = this.#resolve().slice(this.#cited);
    const isNext = ({ passage }: Citation, index: number) => passage === this.#cited + index + 1;
    const end = further.findIndex((citation, index) => !isNext(citation, index));
    return further.slice(0, end === -1 ? further.length : end);
  }

  /** Adds a text to the answer, except for the beginning of a marker at its end, and returns the added text. */
  #renumber(text: string, isLast: boolean): string {
    const end = isLast ? text.length : (openMarker.exec(text)?.index ?? text.length);
    this.#held = text.slice(end);
    const start = this.#answer.length;
    let from = 0;
    for (const match of text.slice(0, end).matchAll(marker)) {
      this.#answer += text.slice(from, match.index);
      this.#answer += this.#shown(match[0], match[1]!.split(',').map(Number));
      from = match.index + match[0].length;
    }
    this.#answer += text.slice(from, end);
    return this.#answer.slice(start);
  }

  /** The marker to show for a marker of the model. Numbers without a passage stay. */
  #shown(written: string, numbers: readonly number[]): string {
    if (!numbers.some((number) => this.#passages.has(number)) || isInCode(this.#answer)) return written;
    if (this.noAnswer !== undefined && this.#answer.trim() === this.noAnswer) return '';
    const shown = numbers.map((number) => {
      const passage = this.#passages.get(number);
      if (!passage) return number;
      const own = this.#numbers.of(number);
      this.#used.set(own, { ...passage, number: own });
      return own;
    });
    return `[${shown.join(', ')}]`;
  }
}

/** Whether the end of a Markdown text is inside of code. */
function isInCode(text: string): boolean {
  const fences = text.match(/^ {0,3}(?:```|~~~)/gm) ?? [];
  if (fences.length % 2 === 1) return true;
  const ticks = text.slice(text.lastIndexOf('\n') + 1).match(/`/g) ?? [];
  return ticks.length % 2 === 1;
}

/**
 * One citation per marker and number. Its quote is the sentence of the answer that ends with the marker. Numbers
 * without a passage and markers without a sentence before them do not give a citation.
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

/** Span of the last sentence between two markers; undefined without words between them. */
function lastSentence(answer: string, from: number, to: number) {
  const between = answer.slice(from, to).trimEnd();
  const sentence = sentencesOf(between).findLast((candidate) => /[\p{L}\p{N}]/u.test(candidate));
  if (!sentence) return undefined;
  // Sentences are normalized, so the answer is searched for the words of the last one.
  const words = sentence.replace(/^[^\p{L}\p{N}]+/u, '').split(' ');
  const pattern = new RegExp(words.map(escapePattern).join(String.raw`\s+`), 'gu');
  const index = [...between.matchAll(pattern)].at(-1)?.index ?? 0;
  return { startIndex: from + index, endIndex: from + between.length };
}

/** Passes answers on without a check. */
export async function* passThrough(
  events: AsyncIterable<GenerationEvent>,
): AsyncGenerator<GenerationChunk, void, void> {
  for await (const { tokenIds: _tokenIds, prompt: _prompt, ...chunk } of events) yield chunk;
}

export interface CheckOptions {
  /** Number of answers. */
  readonly choices: number;
  /** Passages that the answers may cite. */
  readonly passages: readonly Passage[];
  /** The text of an answer where the passages do not hold one. */
  readonly noAnswer?: string;
  /** The usage of a generation that is stopped early, from the tokens so far. */
  readonly usageSoFar: () => Promise<TokenUsage>;
}

/**
 * Checks each answer of a generation separately, and stops the generation once every answer is complete. The last chunk
 * has the usage.
 */
export async function* checkAnswers(
  events: AsyncIterable<GenerationEvent>,
  { choices, passages, noAnswer, usageSoFar }: CheckOptions,
): AsyncGenerator<GenerationChunk, void, void> {
  const checks = new Map<number, CitationCheck>();
  let open = choices;
  let last: GenerationChunk | undefined;
  const refused = new Set<number>();
  for await (const event of events) {
    const { choice, usage, text, logprobs, finishReason, reasoning, toolCalls, refusal } = event;
    if (reasoning !== undefined || toolCalls) yield { choice, text: '', reasoning, toolCalls };
    const check = checks.get(choice) ?? new CitationCheck(passages, noAnswer);
    checks.set(choice, check);
    // A refusal has no citations to check.
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
