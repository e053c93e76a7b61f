import { germanStopWords } from '../stop-words.js';
import { germanGlossary } from './german-glossary.js';

/** Letters that each part of a compound has at least. */
const minPart = 3;
/** Letters between the parts of a compound: `Urlaubstage`. */
const joints = ['', 's', 'n', 'en', 'es', 'e'];

const folded = (text: string) =>
  text.toLowerCase().replaceAll('ß', 'ss').normalize('NFD').replaceAll(/\p{M}/gu, '');
/** A German word without its ending, so that `zahlt`, `zahlen` and `Zahlung` meet. */
const stemOf = (word: string) =>
  word.replace(/(?<=.{3})(?:ungen|ung|ern|en|er|es|em|st|te|ten|e|n|s|t)$/, '');

const words = new Map<string, readonly string[]>();
const stems = new Map<string, readonly string[]>();
for (const entry of germanGlossary.split(/[|\n]/)) {
  const [german = '', ...english] = entry.trim().split(' ');
  if (english.length === 0) continue;
  const key = folded(german);
  words.set(key, [...(words.get(key) ?? []), ...english]);
  if (!stems.has(stemOf(key))) stems.set(stemOf(key), english);
}

/** The English words for a German word, in any of its forms, or for the parts of a compound; empty if it is unknown. */
export function englishWordsFor(german: string): readonly string[] {
  const word = folded(german);
  return simple(word) ?? compound(word) ?? [];
}

function simple(word: string): readonly string[] | undefined {
  const participle = /^ge(.{3,}?)(?:t|en)$/.exec(word)?.[1];
  return (
    words.get(word) ??
    words.get(stemOf(word)) ??
    stems.get(stemOf(word)) ??
    (participle === undefined ? undefined : stems.get(participle))
  );
}

/** The words of both parts of a compound, the last one first, since it says what the thing is. */
function compound(word: string): readonly string[] | undefined {
  for (let at = word.length - minPart; at >= minPart; at -= 1) {
    const last = simple(word.slice(at));
    if (!last) continue;
    for (const joint of joints) {
      const end = at - joint.length;
      if (end < minPart || word.slice(end, at) !== joint) continue;
      const first = words.get(word.slice(0, end)) ?? stems.get(stemOf(word.slice(0, end)));
      if (first) return [...last, ...first];
    }
  }
  return undefined;
}

/** The English words for the meaningful words of a German question, for a search in English texts. */
export function englishWordsOf(question: string): string[] {
  const german = question.match(/\p{L}{3,}/gu) ?? [];
  const meaningful = german.filter((word) => !germanStopWords.has(word.toLowerCase()));
  return [...new Set(meaningful.flatMap((word) => englishWordsFor(word)))];
}

/** Question words and phrases of German, the longer ones first. */
const phrases: readonly (readonly [RegExp, string])[] = (
  [
    ['wie viele?', 'how many'],
    ['wie lange?', 'how long'],
    ['wie oft', 'how often'],
    ['wie hoch', 'how much'],
    ['wie gro(?:ß|ss)', 'how large'],
    ['wie schwer', 'how heavy'],
    ['wie weit', 'how far'],
    ['wie alt', 'how old'],
    ['wie schnell', 'how fast'],
    ['was kostet|was kosten', 'how much is the cost of'],
    ['wann', 'when'],
    ['wer|wen|wem', 'who'],
    ['wessen', 'whose'],
    ['wohin|woher|wo', 'where'],
    ['warum|weshalb|wieso', 'why'],
    ['wie', 'how'],
    ['welche[mnrs]?', 'which'],
    ['womit|wodurch|wofür|worin|worauf|was', 'what'],
    ['nicht', 'not'],
    ['keine?[mnrs]?', 'no'],
    ['ohne', 'without'],
    ['und', 'and'],
    ['oder', 'or'],
  ] as const
).map(([pattern, english]) => [new RegExp(String.raw`(?<!\p{L})(?:${pattern})(?!\p{L})`, 'giu'), english]);

/**
 * A German question with English question words and without German words that have no meaning of their own; its other
 * words stay: `how long dauert erster Besuch?`
 */
export function withEnglishQuestionWords(question: string): string {
  let result = question;
  for (const [pattern, english] of phrases) result = result.replaceAll(pattern, english);
  return result
    .replaceAll(/\p{L}+/gu, (word) => (germanStopWords.has(word.toLowerCase()) ? '' : word))
    .replaceAll(/\s+/g, ' ')
    .trim();
}
