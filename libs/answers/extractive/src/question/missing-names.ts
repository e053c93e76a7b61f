import { englishWordsFor } from '#answers/questions';
import { escapePattern } from '#platform/foundation';
import type { ReadPassage } from '../sentence.js';
import { stemsOf } from '../stems.js';

/** Words with a capital letter that name nothing alone. */
const noName =
  /^(?:I|I'm|I'd|I'll|I've|OK|FAQ|Mr|Mrs|Ms|Dr|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday|January|February|March|April|May|June|July|August|September|October|November|December|English|German)$/;
/** German words with a capital letter that name nothing alone, or that texts write in many ways. */
const noGermanName =
  /^(?:Sie|Ihr|Ihre[nmrs]?|Ihnen|Mal|Art|Weise|Fall|Falle|Grund|Gründe|Frage|Uhr|Tage?n?|Jahre?n?|Monate?n?|Wochen?|Stunden?|Minuten?|Euro|Preise?|Kosten|Name|Namen|Personen?|Leute|Ort|Zeit|Datum|Zahl|Anzahl|Dinge?|Regeln?|Fristen?|Adresse|Nummer|Höhe|Größe|Länge|Gewicht|Menge|Unterschiede?|Dokumente?n?|Datei(?:en)?|Geld|Kilogramm|Gramm|Liter|Meter|Kilometer|Zentimeter|Prozent|Grad|Stück|Lager|Betrag|Summe|Anfang|Ende|Beginn|Ausgaben|Möglichkeit(?:en)?|Informationen|Montag|Dienstag|Mittwoch|Donnerstag|Freitag|Samstag|Sonntag|Deutsch|Englisch)$/u;
/** Characters of the passages by which their language is known. */
const sampled = 1_500;
/** Letters that a part of a German compound has. */
const minPart = 5;
/** Words of languages in which every noun has a capital letter. */
const german =
  /(?<!\p{L})(?:der|die|das|den|dem|ein|eine|einen|ist|sind|wie|wer|wo|wann|warum|welche[rns]?|und|für|von|gibt)(?!\p{L})/iu;
const capitalized = /^\p{Lu}[\p{L}\p{N}’'-]+$|^(?=.*\p{N})(?=.*\p{L})[\p{L}\p{N}-]{3,}$/u;

/** Options of programs, and numbers that name something: `--turbo`, `code 42`. */
const identifier =
  /(?<!\S)--?[a-z][\w-]*|(?<=\b(?:code|error|version|section|clause|paragraph|article|room|step|chapter|number|port|level|item|no\.?)\s)(\d+(?:\.\d+)*)\b/gi;

function standsIn(text: string, name: string): boolean {
  return new RegExp(String.raw`(?<![\p{L}\p{N}])${escapePattern(name)}(?!\p{N})`, 'u').test(text);
}

/**
 * Whether a text has a German noun or a part of it: `Urlaub` for `Urlaubsantrag`, and `Urlaubsantrag` for `Urlaub`.
 */
function hasPartOf(text: string, noun: string): boolean {
  const plain = folded(noun).replace(/(?:en|er|e|n|s)$/u, '');
  const words = folded(text).match(/\p{L}+/gu) ?? [];
  return words.some(
    (word) =>
      word.includes(plain) ||
      (word.length >= minPart && plain.includes(word.slice(0, Math.max(minPart, word.length - 2)))),
  );
}

/** Whether texts have an English word for a German noun. */
function hasTranslation(known: ReadonlySet<string>, noun: string): boolean {
  return englishWordsFor(noun).some((word) => stemsOf(word).some((stem) => known.has(stem)));
}

const folded = (text: string) => text.toLowerCase().normalize('NFD').replaceAll(/\p{M}/gu, '');

/**
 * The names of a question that the passages, their headings and the names of their documents do not contain:
 * words with a capital letter after the first word, and words with letters and digits. Empty if nearly all words have a
 * capital letter, and without passages. In a German question each noun counts, unless a part of it is known.
 */
export function missingNames(question: string, passages: readonly ReadPassage[]): string[] {
  const isEmpty = passages.every(({ sentences }) => sentences.length === 0);
  if (isEmpty) return [];
  const isGerman = german.test(question);
  // A German question over texts in another language names things with other words.
  if (isGerman && !german.test(passages.map(textOf).join(' ').slice(0, sampled))) return [];
  const identifiers = [...question.matchAll(identifier)].map((found) => found[1] ?? found[0]);
  const words = question
    .split(/\s+/)
    .map((word) => word.replaceAll(/^[^\p{L}\p{N}]+|(?:['’]s)?[^\p{L}\p{N}]+$|['’]s$/gu, ''));
  const names = words.filter(
    (word, index) =>
      index > 0 &&
      capitalized.test(word) &&
      !noName.test(word) &&
      !(isGerman && noGermanName.test(word)) &&
      !beginsSentence(question, words[index - 1]!, word),
  );
  const asked = [...identifiers, ...(names.length > words.length / 2 ? [] : names)];
  if (asked.length === 0) return [];
  const known = new Set(passages.flatMap((passage) => stemsOf(textOf(passage))));
  const text = passages.map(textOf).join('\n').toLowerCase();
  const isKnown = (name: string) =>
    standsIn(text, name.toLowerCase()) ||
    (isGerman && (hasPartOf(text, name) || hasTranslation(known, name))) ||
    (/\p{L}/u.test(name) && stemsOf(name).every((stem) => known.has(stem)));
  return [...new Set(asked.filter((name) => !isKnown(name)))];
}

/** Whether a word begins a sentence, so that its capital letter says nothing. */
function beginsSentence(question: string, before: string, word: string): boolean {
  const at = question.indexOf(word, question.indexOf(before) + before.length);
  return /[.!?:"“]\s*$/.test(question.slice(0, at).trimEnd());
}

function textOf({ heading, document, sentences }: ReadPassage): string {
  return `${heading} ${document.replaceAll(/[_-]/g, ' ')} ${sentences.map(({ text }) => text).join(' ')}`;
}
