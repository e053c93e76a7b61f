import type {
  Citation,
  GenerationChunk,
  GenerationParameters,
  RetrievedDocument,
  TokenLogprob,
} from '#platform/contracts';
import { byNumber, CitationNumbers } from '#answers/citations';
import type { AnswerBlock } from './answer-block.js';

/** An answer before the caller's limits are applied. */
export interface Answer {
  readonly text: string;
  readonly citations: readonly Citation[];
  /** Probability that the answer is right, 0–1. */
  readonly confidence: number;
  /** What the answer is to the documents; absent where they do not matter. */
  readonly kind?: NonNullable<GenerationChunk['certainty']>['kind'];
}

/** The text between the brackets of a passage's marker; undefined for a quote without a marker. */
export type MarkerOf = (passage: number) => number | string | undefined;

/**
 * Joins blocks, each with its `[n]`: the passages count from 1 in the order of their first block, unless `markerOf` has
 * other markers. A block of several lines begins on a new line. A citation has the place of the answering sentence in
 * the text, and this sentence in the words of the passage.
 */
export function writeAnswer(
  opening: string,
  blocks: readonly AnswerBlock[],
  confidence: number,
  markerOf: MarkerOf = markersInOrder(),
): Answer {
  let text = opening;
  const citations: Citation[] = [];
  for (const { lead, text: shown, answer, quote, passage, documentId } of blocks) {
    const startsLine = text !== '' && (blocks.length > 1 || shown.includes('\n'));
    text += (text === '' ? '' : startsLine ? '\n\n' : ' ') + lead;
    const marker = markerOf(passage);
    const number = typeof marker === 'number' ? marker : passage;
    const [startIndex, endIndex] = [text.length + answer.start, text.length + answer.end];
    citations.push({ startIndex, endIndex, passage: number, documentId, quote });
    text += shown;
    if (marker !== undefined) text += `${needsLine(shown) ? '\n\n' : ' '}[${marker}]`;
  }
  return { text, citations: byNumber(citations), confidence };
}

/** Adds the places of quotes in the texts of their chunks. A quote over several lines of its chunk has none. */
export function locateQuotes(
  citations: readonly Citation[],
  chunks: readonly Pick<RetrievedDocument, 'id' | 'text'>[],
): Citation[] {
  const texts = new Map(chunks.map(({ id, text }) => [id, text]));
  return citations.map((citation) => {
    const quoteStart = texts.get(citation.documentId)?.indexOf(citation.quote) ?? -1;
    return quoteStart === -1
      ? citation
      : { ...citation, quoteStart, quoteEnd: quoteStart + citation.quote.length };
  });
}

/** Whether a marker would become a part of the table or of the code at the end. */
function needsLine(shown: string): boolean {
  const last = shown.split('\n').at(-1)!;
  return shown.includes('\n') && (last.startsWith('|') || last.endsWith('`'));
}

/** Markers that count the passages from 1 in the order of their first use. */
function markersInOrder(): MarkerOf {
  const numbers = new CitationNumbers();
  return (passage) => numbers.of(passage);
}

/** An answer after the caller's limits were applied. */
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
 * Cuts an answer at the caller's stop strings and limit of tokens. `tokens` are the texts of its tokens; joined they
 * are the answer. Only the choice of the sentences is uncertain. So the log probability of the first token is the
 * logarithm of the answer's confidence, and that of each other token is 0.
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

/** Shortens the citation of a cut sentence to the shown text. */
function cutCitations(citations: readonly Citation[], text: string): Citation[] {
  return citations
    .filter(({ startIndex }) => startIndex < text.length)
    .map((citation) => {
      if (citation.endIndex <= text.length) return citation;
      return { ...citation, endIndex: text.length, quote: text.slice(citation.startIndex) };
    });
}

function logprobsOf(tokens: readonly string[], confidence: number, top = 0): TokenLogprob[] {
  return tokens.map((token, index) => {
    const logprob = index === 0 ? Math.log(Math.max(confidence, Number.MIN_VALUE)) : 0;
    const entry = { token, logprob, bytes: [...Buffer.from(token)] };
    return { ...entry, top_logprobs: top > 0 ? [entry] : [] };
  });
}
