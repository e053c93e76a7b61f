import { wordSet, wordsOf } from '../cells/words.js';
import { english } from './english.js';
import { german } from './german.js';
import type { Concept, Language } from './lexicon.js';

/** A phrase as words, with its meaning. */
export interface Phrase<Meaning> {
  readonly words: readonly string[];
  readonly meaning: Meaning;
}

/** A concept with its words as stems. */
export interface ReadyConcept extends Omit<Concept, 'headers' | 'asked' | 'high' | 'low' | 'needs'> {
  readonly headers: readonly string[];
  readonly asked: ReadonlySet<string>;
  readonly high: readonly string[];
  readonly low: readonly string[];
  readonly needs: ReadonlySet<string>;
}

/** A language with its lists as sets and phrases. */
export type Ready = ReturnType<typeof prepare>;

function phrasesOf<Meaning>(list: readonly (readonly [string, Meaning])[]): Phrase<Meaning>[] {
  return list
    .map(([phrase, meaning]) => ({ words: wordsOf(phrase).map(({ text }) => text), meaning }))
    .toSorted((left, right) => right.words.length - left.words.length);
}

const stemList = (list = '') => wordsOf(list).map((word) => word.stem);
const foldedList = (list = '') => wordsOf(list).map(({ text }) => text);

function readyConcept({ headers, asked, high, low, needs = '', ...rest }: Concept): ReadyConcept {
  return {
    ...rest,
    headers: stemList(headers),
    asked: new Set(stemList(asked)),
    high: foldedList(high),
    low: foldedList(low),
    needs: wordSet(needs),
  };
}

function prepare(language: Language) {
  const numbers = new Map(
    Object.entries(language.numbers).map(([word, number]) => [wordsOf(word)[0]!.text, number]),
  );
  const irregular = new Map(
    Object.entries(language.irregular).map(([word, [adjective, degree]]) => [
      wordsOf(word)[0]!.text,
      { adjective: wordsOf(adjective)[0]!.text, degree },
    ]),
  );
  const ordinals = new Map(
    Object.entries(language.ordinals).map(([word, number]) => [wordsOf(word)[0]!.text, number]),
  );
  const { code, negativePrefix } = language;
  return {
    code,
    negativePrefix,
    numbers,
    ordinals,
    measures: wordSet(language.measures),
    rest: wordSet(language.rest),
    taken: new Set(stemList(language.taken)),
    irregular,
    concepts: language.concepts.map(readyConcept),
    asked: phrasesOf(language.asked),
    cues: phrasesOf(language.cues),
    comparisons: phrasesOf(language.comparisons),
    comparisonsAfter: phrasesOf(language.comparisonsAfter),
    present: phrasesOf(language.present.map((phrase) => [phrase, true] as const)),
    absent: phrasesOf(language.absent.map((phrase) => [phrase, false] as const)),
    exceptions: phrasesOf(language.exceptions.map((phrase) => [phrase, true] as const)),
    maxima: wordSet(language.maxima),
    minima: wordSet(language.minima),
    firsts: wordSet(language.firsts),
    lasts: wordSet(language.lasts),
    negations: wordSet(language.negations),
    than: wordSet(language.than),
    joins: wordSet(`${language.and} ${language.or}`),
    alternatives: wordSet(language.or),
    markers: wordSet(language.markers),
    fillers: wordSet(language.fillers),
    conditions: wordSet(language.conditions),
    pronouns: wordSet(language.pronouns),
    yesNo: wordSet(language.yesNo),
    rowNouns: new Set(stemList(language.rowNouns)),
    personNouns: new Set(stemList(language.personNouns)),
    known: new Set(wordsOfLanguage(language).map((word) => word.stem)),
  };
}

/** All words that have a meaning in questions over any table. */
function wordsOfLanguage({ concepts, ...lists }: Language) {
  const texts = Object.values(lists).flatMap((list) => {
    if (typeof list === 'string') return list;
    if (Array.isArray(list))
      return (list as readonly (string | readonly string[])[]).map((one) => [one].flat()[0]!);
    return list instanceof RegExp ? [] : Object.keys(list);
  });
  const meanings = concepts.flatMap(({ asked, high = '', low = '' }) => [asked, high, low]);
  return wordsOf([...texts, ...meanings].join(' '));
}

const languages = [english, german].map(prepare);

/** The language that has most words of a question; English where both have as many. */
export function languageOf(question: string): Ready {
  const words = wordsOf(question).map(({ text }) => text);
  const count = ({ markers }: Ready) => words.filter((word) => markers.has(word)).length;
  return languages.reduce((best, next) => (count(next) > count(best) ? next : best));
}

/** How an adjective is used: `cheap`, `cheaper`, `cheapest`. */
export type Form = 'positive' | 'comparative' | 'superlative';

/** The forms that a word may have of an adjective: `cheapest` of `cheap`, `ältesten` of `alt`. */
export function formOf(word: string, adjective: string, { irregular }: Ready): Form | undefined {
  const known = irregular.get(word);
  if (known) return known.adjective === adjective ? known.degree : undefined;
  if (!word.startsWith(adjective.slice(0, -1))) return undefined;
  const last = adjective.at(-1)!;
  const bases = [
    adjective,
    adjective + last,
    adjective.slice(0, -1) + (last === 'y' ? 'i' : ''),
    adjective.replace(/er$/, 'r'),
  ];
  for (const base of bases) {
    if (base.length < adjective.length - 1 || !word.startsWith(base)) continue;
    const ending = word.slice(base.length);
    if (/^e?st(?:e[nrsm]?)?$/.test(ending)) return 'superlative';
    if (/^er(?:e[nrsm]?)?$/.test(ending)) return 'comparative';
  }
  return word === adjective || (word.startsWith(adjective) && /^e[nrsm]?$/.test(word.slice(adjective.length)))
    ? 'positive'
    : undefined;
}
