import { type GenerationChunk, type GenerationParameters, invalidField } from '#platform/contracts';
import type { GenerateRequest } from '../tools/tool-format.js';
import type { TextWriter, WritingStep } from './text-writer.js';

/** The methods of the language model that the writer uses. */
export interface WritingModel {
  generate(request: GenerateRequest, signal: AbortSignal): AsyncIterable<GenerationChunk>;
  countPromptTokens(request: Pick<GenerateRequest, 'messages'>): Promise<number>;
  /** Limit for the tokens of prompt and answer together. */
  readonly maxInputTokens: number;
  /** An engine ends its answers by its own limits: only the caller's limit is sent. */
  readonly limitsItself?: boolean;
}

export interface WritingWishes {
  parameters: GenerationParameters;
  /** English name of the language to write in; absent: the language of the text. */
  language?: string;
}

/** Tokens reserved for the answer where the caller set no limit. */
const defaultAnswerTokens = 400;
/** Limit for the tokens of a piece's summary, which is combined with others later. */
const partTokens = 256;
/** Upper estimate of tokens per word: ordinary text has fewer than two. */
const tokensPerWord = 2;

/** Writes texts with a language model. */
export class GenerativeWriter implements TextWriter {
  readonly pieceWords: number;
  private readonly answerTokens: number;

  constructor(
    private readonly model: WritingModel,
    private readonly wishes: WritingWishes,
  ) {
    const wanted = wishes.parameters.max_tokens ?? defaultAnswerTokens;
    this.answerTokens = Math.min(wanted, Math.floor(model.maxInputTokens / 3));
    // A refinement contains the summary so far in addition to the piece.
    const room = model.maxInputTokens - this.answerTokens - partTokens - instructionTokens;
    this.pieceWords = Math.max(20, Math.floor(room / tokensPerWord));
  }

  async fits(text: string): Promise<boolean> {
    const messages = this.#prompt({ kind: 'summary', text });
    return (
      (await this.model.countPromptTokens({ messages })) + this.answerTokens <= this.model.maxInputTokens
    );
  }

  write(step: WritingStep, signal: AbortSignal): AsyncIterable<GenerationChunk> {
    const { parameters } = this.wishes;
    const isLast = step.kind !== 'part';
    const most = isLast ? this.answerTokens : Math.min(this.answerTokens, partTokens);
    const limit = this.model.limitsItself && parameters.max_tokens === undefined ? {} : { max_tokens: most };
    return this.model.generate({ ...parameters, ...limit, messages: this.#prompt(step) }, signal);
  }

  #prompt(step: WritingStep): GenerateRequest['messages'] {
    const { language } = this.wishes;
    const inLanguage =
      language === undefined ? ' Write in the language of the text.' : ` Write in ${language}.`;
    return [{ role: 'user', content: `${instructionOf(step)}${inLanguage}\n\n${materialOf(step)}` }];
  }
}

/** Upper estimate for the tokens of the longest instruction. */
const instructionTokens = 128;

const instructions = {
  summary: 'Write a concise summary of the text below. Use only what it says; give the summary alone.',
  part: 'Write a short summary of this part of a longer text. Keep names and numbers; give the summary alone.',
  combination:
    'Below are summaries of the parts of one text, in order. Write one concise summary of the whole text; give it alone.',
  refinement:
    'Below are a summary of the first part of a text and the part that follows. Write one concise summary that covers both; give it alone.',
} as const;

function instructionOf(step: WritingStep): string {
  if (step.kind !== 'faq') return instructions[step.kind];
  const asked = step.count === 1 ? 'the most useful question' : `the ${step.count} most useful questions`;
  return `Write ${asked} that the text below answers, each with its answer. Use only what the text says. Write every pair as "Q: …" on one line and "A: …" on the next, with a blank line between pairs.`;
}

function materialOf(step: WritingStep): string {
  if (step.kind === 'refinement')
    return `### Summary so far:\n${step.before}\n\n### Next part:\n${step.text}`;
  return `### Text:\n${step.text}`;
}

/** English name of a language given by its code or name; undefined for `auto`. Errors: invalid_request. */
export function languageName(given: string | undefined): string | undefined {
  if (given === undefined || given.toLowerCase() === 'auto') return undefined;
  if (given.length > 3 && !given.includes('-')) return given;
  try {
    const name = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' }).of(given);
    if (name !== undefined) return name;
  } catch {
    // Not in the form of a language code: the error below reports it.
  }
  throw invalidField('language', `${given} is not a known language; write e.g. de or German`);
}
