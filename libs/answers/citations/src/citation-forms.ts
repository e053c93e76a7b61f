import { readContent } from './bracket-content.js';
import { prefixPattern } from './prefix-pattern.js';

/**
 * How sure it is that a form is a citation. `sure`: a form that only citations have. `number`: one number in square
 * brackets, which may be an index. `list`: several, which may be a list of values. `weak`: a form with other uses, such
 * as `(1)` and `m²`. `words`: "search result 1" within a sentence. `noise`: a mark without a number.
 */
export type FormKind = 'sure' | 'number' | 'list' | 'weak' | 'words' | 'noise';

/** A form of citations in a text: its end, and the numbers of the passages in it. */
export interface FoundForm {
  readonly kind: FormKind;
  readonly end: number;
  readonly numbers: readonly number[];
}

type Read = FoundForm | 'open' | undefined;

/** The address of a Markdown link after its text. */
const address = fragment(String.raw`\((?:https?:|www\.|#|/|\.{1,2}/|[\w%-]+[.:#/])[^\s()]*\)`);
const noise = fragment(String.raw`\[cite_start\]`);
const ragflow = fragment(String.raw`##\d{1,3}\$\$`);
const superscript = fragment(String.raw`[¹²³⁰⁴-⁹]{1,3}(?:[,;˒'’][¹²³⁰⁴-⁹]{1,3})*`);
const tagName = '(?:sup|sub|sources?|src|cite|citation|ref|reference|doc|document|result|passage)';
/** `<source id="1">`, `<source 1>`: numbers within the tag. */
const numberedTag = fragment(
  `<${tagName}(?:(?: [\\w-]+ ?= ?["']?#?\\d{1,3}(?:, ?\\d{1,3})*["']?)+|[ _:-]?\\d{1,3}) ?/?>(?: ?</${tagName}>)?`,
);
const openingTag = fragment(`<${tagName}> ?`);
const closingTag = fragment(` ?</${tagName}>`);
const nouns = [
  '(?:search )?results?|sources?|passages?|excerpts?|suchergebnis(?:se|sen)?|quellen?',
  'résultats? de recherche|fuentes?|fonti|fonte|fontes|bronnen|bron|źródł[oa]',
].join('|');
/** "search result 1", "sources 1 and 2" in a sentence. */
const inSentence = fragment(
  String.raw`(?:${nouns}) (?:no\.? |number |nr\.? |#)?\d{1,3}(?:(?:, |,? (?:and|und|et|y|e|en|i) )\d{1,3})*(?![\p{L}\p{N}%]|[.,:]\d)`,
);

interface Fragment {
  readonly whole: RegExp;
  readonly beginning: RegExp;
}

function fragment(source: string): Fragment {
  return { whole: new RegExp(source, 'iuy'), beginning: new RegExp(prefixPattern(source), 'iuy') };
}

/** Limit for the characters of a fragment whose end is not there yet. */
const maxOpen = 500;

/** The text of a fragment at an index; `open` where the text ends with a beginning of it. */
function match(
  { whole, beginning }: Fragment,
  text: string,
  index: number,
  isLast: boolean,
): string | undefined {
  beginning.lastIndex = index;
  if (!isLast && text.length - index < maxOpen && beginning.test(text)) return 'open';
  whole.lastIndex = index;
  return whole.exec(text)?.[0];
}

/** Characters with which a form begins; words begin after another character. */
const firstCharacter =
  /[[(<#\\【［¹²³⁰⁴-⁹]|(?<![\p{L}\p{N}_-])[sSpPeEqQrRfFbBzZźŹ](?=\p{L}|$)|[*_]{1,3}(?=[[(<#\\【［]|$)/gu;

/** The index of the next possible beginning of a form; -1 without one. */
export function nextBeginning(text: string, from: number): number {
  firstCharacter.lastIndex = from;
  return firstCharacter.exec(text)?.index ?? -1;
}

/**
 * The form at an index. `open`: the text ends within a form, or with one that could continue. Undefined for another
 * text.
 */
export function formAt(text: string, index: number, isLast: boolean): Read {
  const first = text[index]!;
  if (first === '*' || first === '_') return emphasized(text, index, isLast);
  if (first === '[' || first === '\\') return squareAt(text, index, isLast);
  if (first === '【' || first === '［') return wideAt(text, index, isLast);
  if (first === '(') return roundAt(text, index, isLast);
  if (first === '<') return tagAt(text, index, isLast);
  if (first === '#')
    // RAGFlow counts passages from 0.
    return fromFragment('sure', ragflow, { text, index, isLast, count: (number) => number + 1 });
  if (/\p{L}/u.test(first)) return fromFragment('words', inSentence, { text, index, isLast });
  return fromFragment('weak', superscript, { text, index, isLast });
}

interface Place {
  text: string;
  index: number;
  isLast: boolean;
  count?: (number: number) => number;
}

function fromFragment(
  kind: FormKind,
  part: Fragment,
  { text, index, isLast, count = (number) => number }: Place,
): Read {
  const found = match(part, text, index, isLast);
  if (found === undefined || found === 'open') return found;
  const numbers = [...found.normalize('NFKC').matchAll(/\d+/g)].map(([digits]) => count(Number(digits)));
  return { kind, end: index + found.length, numbers };
}

/** `**[1]**`: the emphasis is a part of the form if it ends with it. */
function emphasized(text: string, index: number, isLast: boolean): Read {
  const run = /^[*_]{1,3}/.exec(text.slice(index, index + 3))![0];
  const start = index + run.length;
  if (start === text.length) return isLast ? undefined : 'open';
  if (/[\p{L}*_]/u.test(text[start]!)) return undefined;
  const inner = formAt(text, start, isLast);
  if (inner === 'open' || inner === undefined) return inner;
  if (text.startsWith(run, inner.end)) return { ...inner, end: inner.end + run.length };
  return !isLast && run.startsWith(text.slice(inner.end)) ? 'open' : undefined;
}

/** `[1]`, `[[1]](url)`, `[Source 1, p. 3]`, `[^1]:`, `\[1\]` */
function squareAt(text: string, index: number, isLast: boolean): Read {
  const marked = match(noise, text, index, isLast);
  if (marked === 'open' && text.length - index > 1) return 'open';
  if (marked !== undefined && marked !== 'open')
    return { kind: 'noise', end: index + marked.length, numbers: [] };
  const opening = /\\?\[{1,2}/y;
  opening.lastIndex = index;
  const [brackets] = opening.exec(text) ?? [];
  if (brackets === undefined)
    return !isLast && text.endsWith('\\') && index === text.length - 1 ? 'open' : undefined;
  const content = readContent(text, index + brackets.length, ']', isLast);
  if (content === 'open' || content === undefined) return content;
  const closing = /\\?\]{1,2}/y;
  closing.lastIndex = content.end;
  // `[[1], [2]]`: the second bracket belongs to the list.
  const end = content.end + (closing.exec(text)?.[0].length ?? 0);
  if (end === text.length && !isLast) return 'open';
  const { numbers } = content;
  const kind = content.isNamed ? 'sure' : content.isList && numbers.length > 1 ? 'list' : 'number';
  if (text[index + 1] === '^' && text[end] === ':') return { kind: 'sure', end: end + 1, numbers };
  return withAddress({ kind, end, numbers }, text, isLast);
}

function withAddress(form: FoundForm, text: string, isLast: boolean): Read {
  const link = match(address, text, form.end, isLast);
  if (link === 'open') return link;
  return link === undefined ? form : { ...form, end: form.end + link.length };
}

/** `【1】`, `【4:1†file】`, `［1］` */
function wideAt(text: string, index: number, isLast: boolean): Read {
  const content = readContent(text, index + 1, '】］]', isLast);
  if (content === 'open' || content === undefined) return content;
  const form: FoundForm = { kind: 'sure', end: content.end + 1, numbers: content.numbers };
  return form.end === text.length && !isLast ? 'open' : withAddress(form, text, isLast);
}

/** `(source 1)`, `([1], [2])`; `(1)` is weak. */
function roundAt(text: string, index: number, isLast: boolean): Read {
  const content = readContent(text, index + 1, ')', isLast);
  if (content === 'open' || content === undefined) return content;
  const { end, numbers, isNamed } = content;
  return { kind: isNamed ? 'sure' : 'weak', end: end + 1, numbers };
}

/** `<sup>1</sup>`, `<source id="1">` */
function tagAt(text: string, index: number, isLast: boolean): Read {
  const numbered = fromFragment('sure', numberedTag, { text, index, isLast });
  if (numbered !== undefined) return numbered;
  const opening = match(openingTag, text, index, isLast);
  if (opening === 'open' || opening === undefined) return opening;
  const content = readContent(text, index + opening.length, '<', isLast);
  if (content === 'open' || content === undefined) return content;
  const closing = match(closingTag, text, content.end, isLast);
  if (closing === 'open' || closing === undefined) return closing;
  return { kind: 'sure', end: content.end + closing.length, numbers: content.numbers };
}
