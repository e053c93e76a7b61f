/** A word or number of a text, with its place. */
export interface Word {
  /** In lower case, without accents and the possessive. */
  readonly text: string;
  readonly stem: string;
  /** As written. */
  readonly written: string;
  readonly start: number;
  readonly end: number;
}

/** Words of letters and digits; a number with its separators is one word. */
const wordPattern = /[\p{L}\p{N}]+(?:[.,:](?=\p{N})[\p{N}]+)*(?:['’]\p{L}+)*|[€$£¥%°]/gu;

/** Plurals and tenses without a regular ending. */
const irregular: Readonly<Record<string, string>> = {
  children: 'child',
  people: 'person',
  men: 'man',
  women: 'woman',
  feet: 'foot',
  mice: 'mouse',
  teeth: 'tooth',
  knives: 'knife',
  shelves: 'shelf',
  wives: 'wife',
  lives: 'life',
  taught: 'teach',
  sold: 'sell',
  bought: 'buy',
  made: 'make',
  led: 'lead',
  wrote: 'write',
  written: 'write',
  drove: 'drive',
  driven: 'drive',
  paid: 'pay',
  sent: 'send',
  built: 'build',
  won: 'win',
  began: 'begin',
  begun: 'begin',
  spent: 'spend',
  lent: 'lend',
  took: 'take',
  taken: 'take',
};

/** Endings of English and German words, the longer ones first. */
const endings =
  /(?:(?<=.{4})ungen|(?<=.{3})(?:ings|ers|ors|ing|est|ung)|(?<=.{3})(?:ies|es|ed|er|en|or|em|ern)|(?<=.{2})(?:s|y|e))$/;

/** A word in lower case without accents, so that `Städte` and `stadte` are the same. */
export function fold(text: string): string {
  return text
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .normalize('NFD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll('’', "'");
}

const minStem = 3;

const stems = new Map<string, string>();
const maxStems = 5_000;

/** The stem of a folded word: without endings of plurals, tenses and persons, so that `drives` and `driver` are the same. */
export function stem(word: string): string {
  const known = stems.get(word);
  if (known !== undefined) return known;
  const made = makeStem(word);
  if (stems.size >= maxStems) stems.clear();
  stems.set(word, made);
  return made;
}

function makeStem(word: string): string {
  const base = irregular[word] ?? word;
  if (/\p{N}/u.test(base) || base.length < minStem + 1) return base;
  const cut = withoutEnding(withoutEnding(base));
  return cut.length > minStem ? cut.replace(/([^aeiou])\1$/, '$1').replace(/[iy]$/, '') : cut;
}

function withoutEnding(word: string): string {
  const cut = word.replace(endings, '');
  return cut.length >= minStem ? cut : word;
}

/** The words of a text. `don't` becomes `do not`, `who's` becomes `who is`. */
export function wordsOf(text: string): Word[] {
  return [...text.matchAll(wordPattern)].flatMap((found) => {
    const written = found[0];
    const start = found.index;
    const end = start + written.length;
    return expand(fold(written)).map((one) => ({ text: one, stem: stem(one), written, start, end }));
  });
}

/** `zweithöchste`: the place in an order, and the superlative. */
const rankedSuperlative = /^(zweit|dritt|viert)(\p{L}{3,}st(?:e[nrsm]?)?)$/u;

const isAfterName = /^(?:what|who|where|when|which|how|that|it|there)'s$/;

function expand(word: string): string[] {
  const [, place, superlative] = rankedSuperlative.exec(word) ?? [];
  if (place !== undefined) return [place, superlative!];
  if (!word.includes("'")) return [word];
  if (word === "can't") return ['can', 'not'];
  if (word === "won't") return ['will', 'not'];
  if (word.endsWith("n't")) return [word.slice(0, -3), 'not'];
  if (isAfterName.test(word)) return [word.slice(0, -2), 'is'];
  if (/'(?:s|re|ve|ll|d|m)$/.test(word)) return [word.replace(/'.*$/, '')];
  return word.split("'").filter(Boolean);
}

/** The stems of the words of a text. */
export function stemsOf(text: string): string[] {
  return wordsOf(text).map((word) => word.stem);
}

/** A set of folded words of a list, separated by spaces. */
export function wordSet(list: string): ReadonlySet<string> {
  return new Set(list.split(/\s+/).filter(Boolean).map(fold));
}

/** Whether two words differ by one letter, or by two that changed their places. */
export function isTypo(left: string, right: string): boolean {
  if (Math.abs(left.length - right.length) > 1 || left === right) return left === right;
  let start = 0;
  while (start < left.length && left[start] === right[start]) start += 1;
  const [restLeft, restRight] = [left.slice(start), right.slice(start)];
  if (restLeft.slice(1) === restRight.slice(1) || restLeft.slice(1) === restRight) return true;
  if (restLeft === restRight.slice(1)) return true;
  const isSwapped = restLeft[0] === restRight[1] && restLeft[1] === restRight[0];
  return isSwapped && restLeft.slice(2) === restRight.slice(2);
}
