import { stemSet } from '#engine/encoders';
import type { CitablePassage } from './citable-passage.js';
import type { FormKind, FoundForm } from './citation-forms.js';
import { CitationNumbers } from './citation-numbers.js';
import { JsonStrings } from './json-strings.js';
import { endsStatement, isListOfValues, isLiteral } from './literal-text.js';
import { NamedForms } from './named-forms.js';
import { PassageWords } from './similarity.js';
import type { Marker } from './statements.js';

/** `json`: an answer in JSON has no markers. `raw`: another constraint, whose text stays as it is. */
export type AnswerForm = 'text' | 'json' | 'raw';

const maxNear = 200;

/** A form of a text, or the passages with a name. */
export type ReadForm = Omit<FoundForm, 'kind'> & { readonly kind: FormKind | 'name' | 'link' };

/** Writes an answer with its markers `[n]`, and knows their places. */
export class MarkerWriter {
  answer = '';
  readonly markers: Marker[] = [];
  /** In JSON: the text of a string that a removed marker cited. */
  readonly removed: Marker[] = [];
  readonly unknown = new Set<number>();
  /** The passages of the answer's numbers. */
  readonly used = new Map<number, PassageWords>();
  readonly #words: ReadonlyMap<number, PassageWords>;
  readonly #numbers = new CitationNumbers();
  readonly #names: NamedForms;
  #json: JsonStrings | undefined;
  /** The last marker was a weak form. */
  #isWeak = false;
  #text: string | undefined;

  constructor(
    private readonly passages: readonly CitablePassage[],
    private readonly refusals: readonly string[],
    readonly asked: AnswerForm,
  ) {
    this.#words = new Map(passages.map((passage) => [passage.number, new PassageWords(passage)]));
    this.#names = new NamedForms(passages);
    if (asked === 'json') this.#json = new JsonStrings();
  }

  get words(): readonly PassageWords[] {
    return [...this.#words.values()];
  }

  /** An answer that begins like an object is in JSON, even if the caller only asked for it in words. */
  get form(): AnswerForm {
    return this.#json ? 'json' : this.asked;
  }

  append(text: string): void {
    if (this.asked === 'text' && this.answer.trim() === '' && /^\s*\{/.test(text))
      this.#json ??= new JsonStrings();
    this.#json?.push(text, this.answer.length);
    this.answer += text;
  }

  /** The passages that are cited by name at an index of a text. */
  isName(text: string, index: number, isLast: boolean): ReadForm | 'open' | undefined {
    const found = this.#names.at(text, index, isLast);
    if (found === undefined || found === 'open') return found;
    return { kind: found.isLink ? 'link' : 'name', end: found.end, numbers: found.numbers };
  }

  /** Whether a line of a list of sources has the name of a passage. */
  readonly namesPassage = (line: string): boolean => this.#names.namedBy(line).length > 0;

  /** The numbers in the answer of the passages that a line of a list of sources names, without its markers. */
  useNamed(line: string): number[] {
    const isMarked = (numbers: readonly number[]) =>
      [...this.used.values()].some(({ passage }) => numbers.includes(passage.number));
    return this.#names
      .namedBy(line)
      .filter((numbers) => !isMarked(numbers))
      .map((numbers) => this.use(this.#words.get(this.#nearest(numbers, this.answer))!));
  }

  /** The number of a passage in the answer. */
  use(passage: PassageWords): number {
    const number = this.#numbers.of(passage.passage.number);
    this.used.set(number, passage);
    return number;
  }

  /** Writes the marker for a form of the model between the answer and the text after it; false: it is not a citation. */
  mark(form: ReadForm, written: string, after: string): boolean {
    if (this.asked === 'raw' || isLiteral(this.answer)) return false;
    if (this.#json) return this.#removeFromJson(form, this.#json);
    if (form.kind === 'noise') return true;
    const numbers = this.#citedBy(form, written, after);
    if (numbers === undefined) return false;
    for (const number of numbers) if (!this.#words.has(number)) this.unknown.add(number);
    const known = numbers.filter((number) => this.#words.has(number));
    if (known.length === 0 || this.refusals.includes(this.answer.trim())) {
      this.answer = withoutSpaces(this.answer);
      return true;
    }
    this.#isWeak = form.kind === 'weak';
    const own = known.map((number) => this.use(this.#words.get(number)!));
    if (!/^[\\*_]*[[(]/.test(written) && /[^\s\](]$/u.test(this.#near)) this.answer += ' ';
    const start = this.answer.length;
    this.answer += own.map((number) => `[${number}]`).join('');
    this.markers.push({ start, end: this.answer.length, numbers: own });
    return true;
  }

  /** The end of the answer, which decides what a form after it is. */
  get #near(): string {
    return this.answer.slice(-maxNear);
  }

  /** The numbers of the passages that a form cites; undefined if it is not a citation. */
  #citedBy({ kind, numbers }: ReadForm, written: string, after: string): readonly number[] | undefined {
    const isKnown = (number: number) => this.#words.has(number);
    const before = this.#near;
    if (kind === 'sure') return !numbers.some(isKnown) && this.#isQuoted(written) ? undefined : numbers;
    if (kind === 'name' || kind === 'link') {
      // A link within a sentence is a part of it.
      if (kind === 'link' && !/^\s*(?:[.,;:!?)]|\n|$|\[)/.test(after)) return undefined;
      return this.#isQuoted(written) ? undefined : [this.#nearest(numbers)];
    }
    if (kind === 'words') {
      if (/[\p{L}\p{N}_-]$/u.test(before) || !numbers.every(isKnown)) return undefined;
      return this.#isQuoted(written) ? undefined : numbers;
    }
    if (kind === 'weak') return this.#weak(numbers, written, after);
    const isAttached = /[\p{L}\p{N}_]$/u.test(before);
    // The passages may have numbers in brackets of their own: after a space, a known number is a citation.
    const mayBeQuoted = kind === 'list' || isAttached || !numbers.some(isKnown);
    if (mayBeQuoted && this.#isQuoted(/\S*\s*$/.exec(before)![0] + written)) return undefined;
    if (kind === 'list')
      return !numbers.some(isKnown) || isListOfValues(numbers.length, before, after) ? undefined : numbers;
    // An index of a name: `a[10]`.
    return numbers.some(isKnown) || !isAttached ? numbers : undefined;
  }

  /** `(1)` and `¹` count where the answer has no other markers, at the end of a statement. */
  #weak(numbers: readonly number[], written: string, after: string): readonly number[] | undefined {
    const isKnown = (number: number) => this.#words.has(number);
    const cited = numbers.every(isKnown) ? numbers : numbers.join('').split('').map(Number);
    if (!cited.every(isKnown) || (written.startsWith('(') && cited !== numbers)) return undefined;
    if (this.markers.length > 0 && !this.#isWeak) return undefined;
    const before = this.#near;
    const word = /\S*\s*$/.exec(before)![0];
    return endsStatement(written, before, after) && !this.#isQuoted(word + written) ? cited : undefined;
  }

  /** The passage with a name that has most words of a text: by default of the sentence before the name. */
  #nearest(
    numbers: readonly number[],
    text = this.answer.slice(this.markers.at(-1)?.end ?? 0).slice(-400),
  ): number {
    const stems = stemSet(text);
    const shareOf = (number: number) => this.#words.get(number)!.common(stems);
    return numbers.reduce((best, one) => (shareOf(one) > shareOf(best) ? one : best));
  }

  /** Whether a text is one of the passages' own. */
  #isQuoted(text: string): boolean {
    this.#text ??= normalized(
      this.passages.flatMap(({ parts }) => parts.map((part) => part.text)).join('\n'),
    );
    const wanted = normalized(text).trim();
    return /[\p{L}\p{N}].*\p{N}/u.test(wanted) && this.#text.includes(wanted);
  }

  /** Removes a form from a string with other text, so that the JSON has none. */
  #removeFromJson({ kind, numbers }: ReadForm, json: JsonStrings): boolean {
    if (json.start === undefined || kind === 'weak' || kind === 'words' || kind === 'link' || kind === 'name')
      return false;
    const known = numbers.filter((number) => this.#words.has(number));
    const { start } = json;
    const end = withoutSpaces(this.answer).length;
    if (end <= start || (kind !== 'noise' && known.length < numbers.length && kind === 'list')) return false;
    for (const number of numbers) if (!this.#words.has(number)) this.unknown.add(number);
    this.answer = this.answer.slice(0, end);
    const own = known.map((number) => this.use(this.#words.get(number)!));
    if (own.length > 0) this.removed.push({ start, end, numbers: own });
    return true;
  }
}

function normalized(text: string): string {
  return text.replaceAll(/\s+/g, ' ').toLowerCase();
}

function withoutSpaces(text: string): string {
  let end = text.length;
  while (text[end - 1] === ' ' || text[end - 1] === '\t') end -= 1;
  return text.slice(0, end);
}
