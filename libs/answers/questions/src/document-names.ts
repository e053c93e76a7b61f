import { hasWord } from './summary-question.js';

/** A stored document, as a question may name it. */
export interface NamedDocument {
  id: string;
  filename: string;
  title?: string | undefined;
}

/** What a name in a question means: one document, one of several, or none; then the nearest names. */
export type NamedMatch<Document extends NamedDocument> =
  { kind: 'one'; document: Document } | { kind: 'several' | 'none'; documents: Document[] };

/** Documents of an answer that asks which one is meant. */
const maxShown = 5;
/** Similarity of spellings from which a name is a typing error, or worth showing. */
const spelling = { same: 0.75, near: 0.4 };

/** Words that say little about which document is meant. */
const fillers = new Set(
  'the a an of for in on at to and or our my document documents doc file pdf page report das die der dem den des und von vom zum zur dokument datei seite bericht le la les de du el los md txt html docx'.split(
    ' ',
  ),
);

/** Finds the document that a question names by its file, its path or its title. */
export function matchDocumentName<Document extends NamedDocument>(
  name: string,
  documents: readonly Document[],
): NamedMatch<Document> {
  const exact = documents.filter((document) => namesOf(document).some((each) => plain(each) === plain(name)));
  if (exact.length > 0) return oneOf(exact);
  const asked = wordsOf(name);
  if (asked.length > 0) {
    const covering = documents.filter((document) => coverage(asked, document) === 1);
    // A name that has all words of the document's own name, and no document besides it.
    const whole = covering.filter((document) =>
      namesOf(document).some((each) => {
        const own = wordsOf(each);
        return own.length > 0 && own.every((word) => asked.some((other) => isSameWord(word, other)));
      }),
    );
    if (whole.length === 1) return oneOf(whole);
    if (covering.length > 0) return oneOf(covering);
  }
  const similar = documents
    .map((document) => ({
      document,
      value: Math.max(...namesOf(document).map((each) => similarity(plain(name), plain(each)))),
      shared: coverage(asked, document),
    }))
    .toSorted((one, other) => other.value + other.shared - (one.value + one.shared));
  const [first, second] = similar;
  const isTypingError =
    first &&
    first.value >= spelling.same &&
    (second?.value ?? 0) < first.value &&
    namesOf(first.document).some((each) => numbersOf(each) === numbersOf(name));
  if (isTypingError) return { kind: 'one', document: first.document };
  const near = similar.filter(({ value, shared }) => value >= spelling.near || shared >= 0.5);
  return { kind: 'none', documents: near.slice(0, maxShown).map(({ document }) => document) };
}

/** The numbers of a name: documents of other years or versions have other numbers. */
function numbersOf(name: string): string {
  return (name.match(/\d+/g) ?? []).join(' ');
}

function oneOf<Document extends NamedDocument>(documents: Document[]): NamedMatch<Document> {
  const [first, ...others] = documents;
  return first && others.length === 0
    ? { kind: 'one', document: first }
    : { kind: 'several', documents: documents.slice(0, maxShown) };
}

/** The file, its name without folders and without its type, and the title. */
function namesOf({ filename, title }: NamedDocument): string[] {
  const file = filename.split(/[/\\]/).at(-1) ?? filename;
  return [filename, file, file.replace(/\.[a-z]{2,5}\d?$/i, ''), ...(title ? [title] : [])];
}

function plain(name: string): string {
  return name
    .toLowerCase()
    .normalize('NFC')
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}

/** The words of a name that tell documents apart; all of them if it has no others. */
function wordsOf(name: string): string[] {
  const all = plain(name)
    .split(' ')
    .filter((word) => hasWord(word) || /\p{N}/u.test(word));
  const telling = all.filter((word) => !fillers.has(word));
  return telling.length > 0 ? telling : all;
}

/** The share of words that the names of a document have. */
function coverage(words: readonly string[], document: NamedDocument): number {
  const own = namesOf(document).flatMap((each) => plain(each).split(' '));
  const found = words.filter((word) => own.some((other) => isSameWord(word, other)));
  return words.length === 0 ? 0 : found.length / words.length;
}

/** Words with the same beginning, so that an ending does not matter; numbers must be equal. */
function isSameWord(one: string, other: string): boolean {
  if (one === other) return true;
  const length = Math.max(4, Math.min(one.length, other.length) - 2);
  const isShort = one.length < length || other.length < length || /\d/.test(one + other);
  return (
    !isShort && Math.abs(one.length - other.length) <= 3 && one.slice(0, length) === other.slice(0, length)
  );
}

/** Sørensen–Dice coefficient of the pairs of characters. */
function similarity(one: string, other: string): number {
  const [left, right] = [pairsOf(one), pairsOf(other)];
  if (left.length === 0 || right.length === 0) return 0;
  const rest = new Map<string, number>();
  for (const pair of right) rest.set(pair, (rest.get(pair) ?? 0) + 1);
  let shared = 0;
  for (const pair of left) {
    const count = rest.get(pair) ?? 0;
    if (count === 0) continue;
    shared += 1;
    rest.set(pair, count - 1);
  }
  return (2 * shared) / (left.length + right.length);
}

function pairsOf(text: string): string[] {
  return Array.from({ length: Math.max(0, text.length - 1) }, (_unused, index) =>
    text.slice(index, index + 2),
  );
}
