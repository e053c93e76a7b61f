import type { Citation, GenerationChunk, Support, TokenLogprob, TokenUsage } from '#platform/contracts';
import type { GenerationEvent } from '#engine/generation';
import type { CitablePassage } from './citable-passage.js';
import { CitedText } from './cited-text.js';
import { formAt, nextBeginning } from './citation-forms.js';
import { MarkerWriter, type AnswerForm } from './marker-writer.js';

/** A checked piece of one answer. */
interface CheckedPiece {
  readonly text: string;
  /** Log probabilities of the model's tokens in the text. */
  readonly logprobs?: TokenLogprob[];
  /** Set on the last piece; later text of the model is discarded. */
  readonly finishReason?: GenerationEvent['finishReason'];
  /** The first citation of each passage comes with its number, so that a stopped answer keeps it. */
  readonly citations?: Citation[];
  /** On the last piece. */
  readonly support?: Support | undefined;
}

export interface AnswerToCheck {
  /** Passages that the answer may cite. */
  readonly passages: readonly CitablePassage[];
  /** Texts of an answer that says that the passages do not hold one. */
  readonly refusals?: readonly string[];
  /** What the answer is; a text by default. */
  readonly form?: AnswerForm;
}

/**
 * Passes one answer of the model on while it is written. Each form in which models cite becomes `[n]`, where n counts
 * the passages in the order of their use, and is resolved: the first citation of a passage at once, repeated citations
 * at the end. Only a possible beginning of a form is held back. Numbers without a passage are removed and reported.
 */
export class CitationCheck {
  /** Text whose continuation decides whether it is a citation, with the spaces before it. */
  #held = '';
  readonly #writer: MarkerWriter;
  readonly #cited: CitedText;

  constructor({ passages, refusals = [], form = 'text' }: AnswerToCheck) {
    this.#writer = new MarkerWriter(passages, refusals, form);
    this.#cited = new CitedText(this.#writer, refusals);
  }

  push({
    text: written,
    logprobs,
    finishReason,
  }: Pick<GenerationEvent, 'text' | 'logprobs' | 'finishReason'>): CheckedPiece {
    const isLast = finishReason !== undefined;
    const text = this.#take(this.#held + written, isLast);
    const citations = isLast ? this.#cited.rest() : this.#cited.next();
    return {
      text,
      ...(logprobs && { logprobs }),
      ...(isLast && { finishReason, support: this.#cited.support }),
      ...(citations.length > 0 && { citations }),
    };
  }

  /** Adds a text to the answer, except for a possible beginning of a form at its end, and returns the added text. */
  #take(text: string, isLast: boolean): string {
    const writer = this.#writer;
    const start = writer.answer.length;
    let from = 0;
    for (let at = nextBeginning(text, 0); at !== -1; at = nextBeginning(text, Math.max(at + 1, from))) {
      const form = writer.isName(text, at, isLast) ?? formAt(text, at, isLast);
      if (form === undefined) continue;
      if (form === 'open' || (!isLast && needsNext(form.kind) && /^\s*\(?$/.test(text.slice(form.end)))) {
        this.#held = text.slice(from).slice(text.slice(from, at).trimEnd().length);
        writer.append(text.slice(from, text.length - this.#held.length));
        return writer.answer.slice(start);
      }
      writer.append(text.slice(from, at));
      const written = text.slice(at, form.end);
      if (!writer.mark(form, written, text.slice(form.end))) writer.append(written);
      from = form.end;
    }
    // A removed number takes the spaces before it with it.
    const end = isLast ? text.length : from + text.slice(from).replace(/[ \t]+$/, '').length;
    this.#held = text.slice(end);
    writer.append(text.slice(from, end));
    return writer.answer.slice(start);
  }
}

/** Whether the text after a form decides whether it is a citation. */
function needsNext(kind: string): boolean {
  return kind !== 'sure' && kind !== 'noise';
}

/** Passes answers on without a check. */
export async function* passThrough(
  events: AsyncIterable<GenerationEvent>,
): AsyncGenerator<GenerationChunk, void, void> {
  for await (const { tokenIds: _tokenIds, prompt: _prompt, ...chunk } of events) yield chunk;
}

export interface CheckOptions extends AnswerToCheck {
  /** Number of answers. */
  readonly choices: number;
  /** The usage of a generation that is stopped early, from the tokens so far. */
  readonly usageSoFar: () => Promise<TokenUsage>;
}

/**
 * Checks each answer of a generation separately, and stops the generation once every answer is complete. The last chunk
 * has the usage.
 */
export async function* checkAnswers(
  events: AsyncIterable<GenerationEvent>,
  { choices, usageSoFar, ...options }: CheckOptions,
): AsyncGenerator<GenerationChunk, void, void> {
  const checks = new Map<number, CitationCheck>();
  let open = choices;
  let last: GenerationChunk | undefined;
  const refused = new Set<number>();
  for await (const event of events) {
    const { choice, usage, text, logprobs, finishReason, reasoning, toolCalls, refusal } = event;
    if (reasoning !== undefined || toolCalls) yield { choice, text: '', reasoning, toolCalls };
    const check = checks.get(choice) ?? new CitationCheck(options);
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

function saysSomething({ text, logprobs, finishReason, citations }: CheckedPiece): boolean {
  return text !== '' || logprobs !== undefined || finishReason !== undefined || citations !== undefined;
}
