import type { Citation, GenerationParameters, TokenLogprob } from '#contracts';
import type { Quote } from './compose-answer.js';

/** An answer before the caller's own limits. */
export interface Answer {
  readonly text: string;
  readonly citations: readonly Citation[];
  /** How likely it answers, 0–1. */
  readonly confidence: number;
}

/** Quotes behind each other, each with its `[n]`; several lines begin on a line of their own. */
export function writeAnswer(opening: string, quotes: readonly Quote[], confidence: number): Answer {
  let text = opening;
  const citations: Citation[] = [];
  for (const [index, { lead, text: quote, passage, documentId }] of quotes.entries()) {
    const isBlock = quote.includes('\n');
    const before = quotes[index - 1]?.text.includes('\n') || (isBlock && text !== '') ? '\n\n' : ' ';
    text += (text === '' ? '' : before) + lead;
    const startIndex = text.length;
    text += quote;
    citations.push({ startIndex, endIndex: text.length, passage, documentId, quote });
    text += quote.endsWith('`') && isBlock ? `\n[${passage}]` : ` [${passage}]`;
  }
  return { text, citations, confidence };
}

/** What is left of an answer within the caller's limits. */
export interface LimitedAnswer {
  readonly text: string;
  readonly citations: Citation[];
  readonly finishReason: 'stop' | 'length';
  readonly completionTokens: number;
  readonly logprobs?: TokenLogprob[];
}

type Limits = Pick<
  GenerationParameters,
  'max_tokens' | 'stop' | 'include_stop_str_in_output' | 'logprobs' | 'top_logprobs'
>;

/**
 * Cuts an answer at the caller's stop strings and most tokens. `tokens` are its tokens as texts, which together are the
 * answer. All that is uncertain is the choice of the sentences: the first token has the logarithm of the answer's
 * confidence, and the others, which follow from it, 0.
 */
export function limitAnswer(answer: Answer, tokens: readonly string[], limits: Limits): LimitedAnswer {
  const stopped = cutAtStop(answer.text, limits);
  let length = 0;
  const kept: string[] = [];
  for (const token of tokens) {
    if (length >= stopped.length || kept.length === limits.max_tokens) break;
    kept.push(token.slice(0, stopped.length - length));
    length += token.length;
  }
  const text = kept.join('');
  return {
    text,
    citations: cutCitations(answer.citations, text),
    finishReason: text.length < stopped.length ? 'length' : 'stop',
    completionTokens: kept.length,
    ...(limits.logprobs && { logprobs: logprobsOf(kept, answer.confidence, limits.top_logprobs) }),
  };
}

function cutAtStop(text: string, { stop, include_stop_str_in_output: keep }: Limits): string {
  const found = [stop ?? []].flat().flatMap((string) => {
    const at = text.indexOf(string);
    return at < 0 ? [] : [{ at, end: keep ? at + string.length : at }];
  });
  const [first] = found.toSorted((left, right) => left.at - right.at);
  return first ? text.slice(0, first.end) : text;
}

/** A quote that is cut is cited as far as it is shown; one of no characters points to a document and quotes nothing. */
function cutCitations(citations: readonly Citation[], text: string): Citation[] {
  return citations
    .filter(({ startIndex, quote }) => startIndex < text.length || quote === '')
    .map((citation) => {
      const startIndex = Math.min(citation.startIndex, text.length);
      const endIndex = Math.min(citation.endIndex, text.length);
      return { ...citation, startIndex, endIndex, quote: text.slice(startIndex, endIndex) };
    });
}

function logprobsOf(tokens: readonly string[], confidence: number, top = 0): TokenLogprob[] {
  return tokens.map((token, index) => {
    const logprob = index === 0 ? Math.log(Math.max(confidence, Number.MIN_VALUE)) : 0;
    const entry = { token, logprob, bytes: [...Buffer.from(token)] };
    return { ...entry, top_logprobs: top > 0 ? [entry] : [] };
  });
}
