/** A part of a text, from `start` up to `end`. */
export interface Span {
  start: number;
  end: number;
}

/** The sentence of an answer with the citation at `position`, without citation numbers. */
export function citedSentence(answer: string, position: number): string {
  const before = answer
    .slice(0, position)
    .replaceAll(/\[\d+\]/g, '')
    .trimEnd();
  const last = sentencesOf(before).at(-1);
  return last ? before.slice(last.start, last.end).trim() : '';
}

/**
 * Finds a sentence in a passage: the sentence itself if the passage contains it, else the sentence of the passage with
 * the most words in common. Undefined if they have few words in common.
 */
export function findQuote(passage: string, sentence: string): Span | undefined {
  return findExact(passage, sentence) ?? findNearest(passage, sentence);
}

/** Finds the sentence itself, ignoring whitespace and case. */
function findExact(passage: string, sentence: string): Span | undefined {
  const words = sentence.split(/\s+/).filter(Boolean);
  if (words.length < 2) return undefined;
  const escaped = words.map((word) => word.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`));
  const match = new RegExp(escaped.join(String.raw`\s+`), 'iu').exec(passage);
  return match ? { start: match.index, end: match.index + match[0].length } : undefined;
}

function findNearest(passage: string, sentence: string): Span | undefined {
  const wanted = wordsOf(sentence);
  let best: { span: Span; share: number } | undefined;
  for (const span of sentencesOf(passage)) {
    const words = wordsOf(passage.slice(span.start, span.end));
    const common = [...wanted].filter((word) => words.has(word)).length;
    const share = common / Math.max(wanted.size, 1);
    if (share > (best?.share ?? 0.4)) best = { span, share };
  }
  return best?.span;
}

function wordsOf(text: string): Set<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu));
}

/** Splits a text into sentences. A single line break does not end a sentence, but an empty line does. */
function sentencesOf(text: string): Span[] {
  const unwrapped = text.replaceAll(/(?<!\n)\n(?!\n)/g, ' ');
  const segments = new Intl.Segmenter('en', { granularity: 'sentence' }).segment(unwrapped);
  return [...segments].map(({ index, segment }) => ({ start: index, end: index + segment.trimEnd().length }));
}
