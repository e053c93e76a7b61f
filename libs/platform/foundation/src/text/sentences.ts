const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });

/** Abbreviations whose period never ends a sentence. */
const alwaysInside = new Set(
  'mr mrs ms messrs dr prof st mt gen col sgt capt cmdr lt rev hon gov sen rep pres vs e.g i.e cf viz approx ca al'.split(
    ' ',
  ),
);
/** Abbreviations whose period does not end a sentence if a number follows: "No. 5", "Fig. 3", "Jan. 12". */
const beforeNumber = new Set(
  'no nos fig figs vol p pp ch sec eq art tab ver v jan feb mar apr jun jul aug sep sept oct nov dec'.split(
    ' ',
  ),
);
/**
 * Abbreviations that occur in names and at the end of sentences: "Acme Inc. Europe", "he joined Acme Inc. The board
 * …".
 */
const maybeEnd = new Set('inc ltd co corp jr sr dept est ave blvd rd bros univ assn'.split(' '));

/** German months, whose day is an ordinal number: "am 6. Januar". */
const afterOrdinal =
  /^(?:januar|jänner|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember|jahrhundert|lebensjahr|quartal|stock|klasse|auflage)(?!\p{L})/iu;

/** Words that begin a sentence far more often than they continue a name. */
const sentenceStarters = new Set(
  (
    'the a an it he she they we i you this that these those in on at by for from if when while but and or however as ' +
    'after before there then his her its their our my your not no yes to with what who why how where which all some ' +
    'most many both each every one although because since also so'
  ).split(' '),
);

/**
 * Splits a text into sentences. Each keeps the whitespace after it, so that joined they are the text. The rules are
 * Unicode's, corrected after abbreviations ("Dr. Smith", "e.g. Paris", "No. 5") and initials ("J. R. Tolkien").
 */
export function splitSentences(text: string): string[] {
  return [...sentencesWithin(text)];
}

/** Yields the sentences of {@link splitSentences} one by one, for long texts. */
export function* sentencesWithin(text: string): Generator<string, void, void> {
  let [start, end] = [0, 0];
  for (const segment of segmentsOf(text)) {
    if (end > start && !continuesAfter(text, start, end, segment)) {
      yield text.slice(start, end);
      start = end;
    }
    end += segment.length;
  }
  if (end > start) yield text.slice(start, end);
}

/** Characters per call of `Intl.Segmenter`, whose time grows with the square of the length. */
const windowLength = 4096;

/**
 * Yields Unicode's sentences, window by window. The last two of a window are discarded, because their ends depend
 * on the following text.
 */
function* segmentsOf(text: string): Generator<string> {
  let length = windowLength;
  for (let start = 0; start < text.length;) {
    const window = text.slice(start, start + length);
    const isLast = start + length >= text.length;
    const segments = Array.from(segmenter.segment(window), ({ segment }) => segment);
    const sure = isLast ? segments : segments.slice(0, -2);
    yield* sure;
    start += sure.reduce((sum, segment) => sum + segment.length, 0);
    length = sure.length === 0 ? 2 * length : windowLength;
  }
}

/** Characters examined before a break, and the maximum length of a sentence that joins several segments. */
const lookBack = 40;
const maxSentenceLength = 4096;

/** True if the sentence from `start` to `end` continues with `next`. Takes constant time. */
function continuesAfter(text: string, start: number, end: number, next: string): boolean {
  if (end - start > maxSentenceLength) return false;
  const before = text.slice(Math.max(start, end - lookBack), end);
  if (/[\n\r\u2028\u2029]\s*$/.test(before)) return false;
  const last = /(\S+)\.\s+$/.exec(before)?.[1]?.replace(/^[("'“‘[]+/, '');
  if (last === undefined) return false;
  const abbreviation = last.toLowerCase();
  const isWhole = end - start <= lookBack;
  if (alwaysInside.has(abbreviation) || (isWhole && isListNumber(before))) return true;
  if (/^\d/.test(next)) return beforeNumber.has(abbreviation);
  if (/^\d{1,2}$/.test(last)) return afterOrdinal.test(next);
  if (startsLikeSentence(next)) return false;
  return isInitials(last) || maybeEnd.has(abbreviation);
}

/** "J", "U.S", "Ph.D", "p.m": letters with periods between them. */
function isInitials(word: string): boolean {
  return /^\p{Lu}$/u.test(word) || /^\p{L}{1,2}(\.\p{L}{1,2})+$/u.test(word);
}

/** "1. " alone is the number of a list item. */
function isListNumber(text: string): boolean {
  return /^\s*\d{1,3}\.\s+$/.test(text);
}

function startsLikeSentence(text: string): boolean {
  const word = /^["'“‘([]*([\p{L}]+)/u.exec(text)?.[1];
  return word !== undefined && sentenceStarters.has(word.toLowerCase());
}

/** Counts the words of a text, separated by whitespace. */
export function countWords(text: string): number {
  return text.match(/\S+/g)?.length ?? 0;
}

/** Returns the beginning of a text up to its first `count` words; the whole text if it has fewer words. */
export function firstWords(text: string, count: number): string {
  const words = text.matchAll(/\S+/g);
  let end = 0;
  for (let read = 0; read < count; read += 1) {
    const next = words.next();
    if (next.done) return text;
    end = next.value.index + next.value[0].length;
  }
  return words.next().done ? text : text.slice(0, end);
}
