/** What brackets contain: numbers of passages, with or without words such as "source" before them. */
export interface BracketContent {
  /** Index of the character after the content: of the closing bracket. */
  readonly end: number;
  readonly numbers: readonly number[];
  /** A word such as "source", or a bracket within the brackets, says that the numbers are citations. */
  readonly isNamed: boolean;
  /** Plain numbers and commas, as in a list of values. */
  readonly isList: boolean;
}

/** Words before the number of a passage, in the languages of the prompt. */
const labels = words(
  'search result results source sources doc docs document documents passage passages ref refs reference references ' +
    'citation citations cite cites excerpt excerpts snippet snippets chunk chunks context contexts id ids evidence ' +
    'footnote footnotes quelle quellen ergebnis ergebnisse suchergebnis suchergebnisse dokument ' +
    'dokumente absatz beleg fußnote résultat résultats extrait extraits fuente fuentes resultado resultados ' +
    'documento documentos fonte fonti fontes risultato risultati documenti bron bronnen resultaat resultaten ' +
    'documenten źródło źródła wynik wyniki dokumenty',
);
/** Words before a number that may name another thing, as in "Chanel (No. 5)". */
const weakLabels = words('no number nr file files');
/** Words between numbers. */
const joiners = words('and und et y e en i oraz e to bis tot do');
const rangeWords = words('to bis tot do');
/** Words before the first number. */
const openings = words(
  'see cf from per according siehe vgl laut voir selon vea según vedi zie zob also auch',
);
/** Words before the number of a page or the like, which is not the number of a passage. */
const places = words(
  'p pp page pages s seite seiten section sections abschnitt § line lines zeile zeilen slide slides row rows pág págs pagina str',
);
const known = [labels, weakLabels, joiners, openings, places];

function words(list: string): ReadonlySet<string> {
  return new Set(list.split(' '));
}

/** Whether a text is the beginning of a word that brackets may contain. */
function beginsWord(text: string): boolean {
  return known.some((set) => [...set].some((word) => word.startsWith(text)));
}

const token =
  /(?<space>[ \t\u00a0]+)|(?<word>(?<!\p{Nd})\p{L}+|§)|(?<digits>\p{Nd}+)|(?<note>†[^\]】］\n]*)|(?<sign>[#^:;,、，；&+.=_–—~-])|(?<open>\\?\[{1,2}|[【［])/uy;
/** Limit for the characters of a form. */
const maxLength = 200;
const maxDigits = 3;
const maxRange = 20;

interface Reading {
  numbers: number[];
  /** The last token, apart from spaces. */
  last: 'start' | 'word' | 'number' | 'sign' | 'place';
  /** A range begins with the last number. */
  isRange: boolean;
  /** `4:1`: the number before the colon counts messages. */
  hasColon: boolean;
  isNamed: boolean;
  isList: boolean;
}

/**
 * Reads the content of brackets from an index up to one of the closing brackets. `open`: the text ends before. Undefined
 * for another content.
 */
export function readContent(
  text: string,
  start: number,
  closing: string,
  isLast: boolean,
): BracketContent | 'open' | undefined {
  const reading: Reading = {
    numbers: [],
    last: 'start',
    isRange: false,
    hasColon: false,
    isNamed: false,
    isList: true,
  };
  let at = start;
  while (at - start < maxLength) {
    if (at === text.length) return isLast ? undefined : 'open';
    const isEscaped = text[at] === '\\';
    if (isEscaped && at + 1 === text.length) return isLast ? undefined : 'open';
    const sign = text[isEscaped ? at + 1 : at]!;
    if (closing.includes(sign)) return finish(reading, at, sign);
    token.lastIndex = at;
    const { groups = {}, 0: found } = token.exec(text) ?? {};
    if (found === undefined) return undefined;
    const isCut = at + found.length === text.length && !isLast;
    if (groups['open'] !== undefined) {
      // One level: `([1], [2])`, `<sup>[1]</sup>`.
      if (!')<'.includes(closing)) return undefined;
      const inner = readContent(text, at + found.length, ']】］', isLast);
      if (inner === 'open' || inner === undefined) return inner;
      const closed = /\\?\]{1,2}|[】］]/y;
      closed.lastIndex = inner.end;
      at = inner.end + (closed.exec(text)?.[0].length ?? 0);
      reading.numbers.push(...inner.numbers);
      Object.assign(reading, { last: 'number', isNamed: true });
      continue;
    }
    if (!accepts(reading, groups, isCut)) return undefined;
    at += found.length;
  }
  return undefined;
}

type Groups = Readonly<Record<string, string | undefined>>;

function accepts(reading: Reading, { space, word, digits, note, sign }: Groups, isCut: boolean): boolean {
  if (space !== undefined) return true;
  if (word !== undefined) return acceptsWord(reading, word.toLowerCase(), isCut);
  if (digits !== undefined) return acceptsNumber(reading, digits);
  if (note !== undefined) {
    reading.hasColon = false;
    reading.isNamed = true;
    return reading.last === 'number';
  }
  return acceptsSign(reading, sign!);
}

function acceptsWord(reading: Reading, word: string, isCut: boolean): boolean {
  if (isCut) return beginsWord(word);
  const isPlace = places.has(word) && (reading.last === 'number' || reading.last === 'sign');
  if (!isPlace && joiners.has(word)) {
    if (reading.last !== 'number' && reading.last !== 'sign') return word === 'to';
    reading.isRange = rangeWords.has(word);
    reading.last = 'sign';
    reading.isList = false;
    return true;
  }
  const isLabel = labels.has(word) || weakLabels.has(word);
  if (!isPlace && !isLabel && !(openings.has(word) && reading.last === 'start')) return false;
  if (labels.has(word) && !isPlace) reading.isNamed = true;
  reading.last = isPlace ? 'place' : openings.has(word) ? 'start' : 'word';
  reading.isList = false;
  return true;
}

function acceptsNumber(reading: Reading, digits: string): boolean {
  if (reading.last === 'place') return true;
  // "[1 2]" and "[12]" are numbers, "[2024]" is a year.
  if (digits.length > maxDigits) return false;
  const number = Number(digits.normalize('NFKC'));
  const before = reading.numbers.at(-1) ?? number;
  if (reading.isRange && number > before && number - before <= maxRange)
    reading.numbers.push(...Array.from({ length: number - before }, (_unused, step) => before + step + 1));
  else if (reading.isRange) return false;
  else reading.numbers.push(number);
  reading.isRange = false;
  reading.last = 'number';
  return true;
}

function acceptsSign(reading: Reading, sign: string): boolean {
  const { last } = reading;
  if (last === 'place') {
    if (sign === ',' || sign === ';') reading.last = 'sign';
    return /[.,;–-]/.test(sign);
  }
  if (sign === '#' || sign === '^') {
    reading.isNamed = true;
    return true;
  }
  if (last === 'start' || last === 'word') return last === 'word' && /[:.#=_-]/.test(sign);
  if (sign === '.' || sign === '=' || sign === '_') return false;
  if (sign === ':' && last === 'number') {
    reading.hasColon = true;
    reading.numbers.pop();
  }
  reading.isRange = /[–—~-]/.test(sign) && last === 'number';
  reading.last = 'sign';
  return true;
}

function finish(reading: Reading, end: number, closing: string): BracketContent | undefined {
  const { numbers, hasColon, isNamed, isList, last } = reading;
  // `[4:1]` is a time or a ratio, `【4:1】` a citation.
  if (numbers.length === 0 || (last === 'sign' && reading.isRange) || last === 'word') return undefined;
  if (hasColon && !'】］'.includes(closing)) return undefined;
  return { end, numbers: [...new Set(numbers)], isNamed, isList: isList && !isNamed };
}
