import { detectLanguage, escapePattern, languages } from '#platform/foundation';
import { withOtherPart } from './ellipsis.js';
import { fixedTexts, type FixedTexts } from './fixed-texts.js';
import { germanStopWords, stopWords } from './stop-words.js';

/** A turn of a conversation. */
interface Turn {
  readonly role: string;
  readonly content: string;
}

/** Nouns that stand for what the conversation is about: "How long does the treatment last?" */
const generalNouns =
  'treatment|therapy|session|dose|course|procedure|process|product|device|machine|appliance|medicine|medication|drug|tablets?|event|trip|journey|meeting|building|company|firm|author|owner|recipe|dish|contract|agreement|project|programme|program|side effects?|results?';
const refersBack = new RegExp(
  String.raw`\b(?:it|its|he|him|his|she|her|hers|they|them|their|theirs|this|that|these|those|there|then|one|ones|the (?:former|latter|same|other|${generalNouns}))\b`,
  'i',
);
const person = /\b(?:he|him|his|she|her|hers)\b/i;
const continues =
  /^(?:and|but|or|so|what about|how about|und|aber|oder|was ist mit|wie (?:ist|sieht|steht) es mit)(?!\p{L})/iu;
/** German pronouns, which stand for what the conversation is about. */
const germanReference =
  /(?<!\p{L})(?:er|sie|es|ihn|ihm|ihnen|dessen|deren|dieser|diese|dieses|diesen|diesem|davon|dafür|damit|dabei|dazu|darin|darauf|darüber|dort)(?!\p{L})/u;
/** A whole clause about a thing that it names: "How much is the sextant?", "Who is Ruth?". */
const namesItsSubject =
  /\b(?:is|are|was|were|does|do|did|has|have|can)\b.*?\b(?:(?:the|a|an)\s+\p{L}|\p{Lu})/u;
/**
 * Limits in content words. A longer question is independent of its predecessor; a pronoun after `before` words
 * refers to them.
 */
const ownWords = { continuing: 4, referring: 6, before: 3 };
/** Maximum number of words to add from the previous question and from its answer. */
const maxWords = { question: 6, answer: 4 };

/**
 * Returns the last question, and if it is a follow-up, adds content words of the user's previous question and names
 * of its answer. `and who paid for it?` after `Who built the Zorvan observatory?` becomes `and who paid for it?
 * built Zorvan observatory`. A follow-up that only has another name is the previous question with this name: `And
 * Porto?` after `How many people work in Bergen?` becomes `How many people work in Porto?`. A clause with one content
 * word, `How much is the sextant?`, gets the names of the previous question alone. An independent question is returned
 * unchanged. This does not use a model.
 */
export function condenseQuestion(turns: readonly Turn[]): string {
  return condense(turns).text;
}

/** `isWhole`: the condensed question stands for itself. */
function condense(turns: readonly Turn[]): { text: string; isWhole: boolean } {
  const { question, before } = lastQuestion(turns);
  const asked = before.filter(({ role }) => role === 'user').map(({ content }) => content);
  if (asked.length === 0 || !isFollowUp(question)) return { text: question, isWhole: true };
  const subject = condenseQuestion(before);
  const renamed = withOtherName(subject, question) ?? withOtherPart(subject, question);
  if (renamed !== undefined) return { text: renamed, isWhole: true };
  const known = new Set(contentWords(question).map(lower));
  const fresh = (words: string[], count: number) => {
    const chosen: string[] = [];
    for (const word of words) {
      if (chosen.length === count) break;
      if (known.has(lower(word))) continue;
      known.add(lower(word));
      chosen.push(word);
    }
    return chosen;
  };
  if (isOwnClause(question, subject)) {
    const named = asked.map(names).findLast((found) => found.length > 0) ?? [];
    return { text: [question, ...fresh(named, maxWords.question)].join(' '), isWhole: true };
  }
  const fromQuestion = fresh(namesFirst(subject), maxWords.question);
  const fromAnswer = fresh(namesOfAnswer(before), maxWords.answer);
  return { text: [question, ...fromQuestion, ...fromAnswer].join(' '), isWhole: false };
}

/**
 * The last question for a reader of the passages that were found for the condensed question: with the names of the
 * previous question, and for a person the names of the answer. It does not repeat what the previous question asked.
 */
export function questionWithNames(turns: readonly Turn[]): string {
  const { text: condensed, isWhole } = condense(turns);
  if (isWhole) return condensed;
  const { question, before } = lastQuestion(turns);
  const known = new Set(contentWords(question).map(lower));
  const asked = names(condenseQuestion(before));
  const all = [...asked, ...(person.test(question) ? namesOfAnswer(before) : [])];
  const subject = all.filter((word) => !known.has(lower(word)));
  return subject.length === 0 ? condensed : [question, ...new Set(subject)].join(' ');
}

function lastQuestion(turns: readonly Turn[]): { question: string; before: readonly Turn[] } {
  const last = turns.findLastIndex(({ role }) => role === 'user');
  const question = turns[last]?.content ?? turns.at(-1)?.content ?? '';
  return { question, before: turns.slice(0, Math.max(0, last)) };
}

/** Names of the last answer. Its numbers are values, and not what a further question is about. */
function namesOfAnswer(turns: readonly Turn[]): string[] {
  const answer = turns.findLast(({ role }) => role === 'assistant')?.content ?? '';
  return names(proseOf(answer)).filter((word) => /\p{L}/u.test(word));
}

/** Parts of an answer that name nothing: code, rows of tables, addresses, markers of citations, and fixed texts. */
const unspoken = new RegExp(
  [
    '```[^]*?(?:```|$)',
    String.raw`^\s*\|.*$`,
    String.raw`\bhttps?:\S+`,
    String.raw`\[\d+\]`,
    ...languages.flatMap((language) => fixedPatterns(fixedTexts(language))),
  ].join('|'),
  'gm',
);

/** Patterns of the fixed texts of a language, whatever names they have. */
function fixedPatterns(texts: FixedTexts): string[] {
  const name = 'NAME';
  const withName = [
    texts.from(name),
    texts.closestIn(name),
    texts.missing([name]),
    texts.missing([name, name]),
  ];
  const anyName = withName.map((text) => escapePattern(text).split(name).join('[^\\n]*?'));
  return [...anyName, ...[texts.noAnswer, ...texts.closest].map(escapePattern)];
}

function proseOf(answer: string): string {
  return answer.replaceAll(unspoken, ' ').trimStart();
}

/**
 * True if the question has almost only stop words, begins with a conjunction, or refers to a subject that it does
 * not name.
 */
function isFollowUp(question: string): boolean {
  const words = contentWords(question).length;
  if (words <= 1) return true;
  if (continues.test(question.trim())) return words <= ownWords.continuing;
  const reference = (isGerman(question) ? germanReference : refersBack).exec(question);
  return (
    reference !== null &&
    words <= ownWords.referring &&
    contentWords(question.slice(0, reference.index)).length < ownWords.before
  );
}

/** Characters of a clause with one content word. */
const maxClauseLength = 200;

/** Whether the question is a clause about one thing that the previous question does not name. */
function isOwnClause(question: string, subject: string): boolean {
  if (question.length > maxClauseLength) return false;
  const [word, ...others] = contentWords(question);
  if (word === undefined || others.length > 0) return false;
  if (refersBack.test(question) || continues.test(question.trim()) || !namesItsSubject.test(question))
    return false;
  return !contentWords(subject).some((other) => lower(other) === lower(word));
}

interface NameRun {
  readonly text: string;
  readonly index: number;
  /** The word in front, as "in". */
  readonly before: string;
  readonly hasDigit: boolean;
}

/** The runs of names in a text, as "MS Terna" or "HX-320", without its first word. */
function nameRunsOf(text: string): NameRun[] {
  const runs: NameRun[] = [];
  let before = '';
  for (const { 0: word, index } of [...text.matchAll(wordPattern)].slice(1)) {
    const last = runs.at(-1);
    const between = last && text.slice(last.index + last.text.length, index);
    if (!isName(word)) before = lower(word);
    else if (last && between?.trim() === '')
      runs.splice(-1, 1, {
        ...last,
        text: `${last.text}${between}${word}`,
        hasDigit: last.hasDigit || digit.test(word),
      });
    else runs.push({ text: word, index, before, hasDigit: digit.test(word) });
  }
  return runs;
}

/**
 * The previous question with the name of a follow-up that has only this name: in place of the name of its kind (with a
 * digit, or without) that follows the same word, or else of the last name of its kind. Undefined for other follow-ups.
 */
function withOtherName(previous: string, followUp: string): string | undefined {
  if (!continues.test(followUp.trim())) return undefined;
  const [name, ...others] = nameRunsOf(followUp);
  const words = name && contentWords(name.text).length;
  if (!name || others.length > 0 || contentWords(followUp).length !== words) return undefined;
  const alike = nameRunsOf(previous).filter(({ hasDigit }) => hasDigit === name.hasDigit);
  const replaced = alike.find(({ before }) => before === name.before) ?? alike.at(-1);
  if (!replaced) return undefined;
  const after = replaced.index + replaced.text.length;
  return `${previous.slice(0, replaced.index)}${name.text}${previous.slice(after)}`;
}

/** Content words of a text: all but English stop words, and German ones in a German text. */
export function contentWords(text: string): string[] {
  const isStop = isGerman(text)
    ? (word: string) => stopWords.has(word) || germanStopWords.has(word)
    : (word: string) => stopWords.has(word);
  return (text.match(wordPattern) ?? []).filter((word) => !isStop(lower(word)));
}

const isGerman = (text: string) => text.length <= maxClauseLength && detectLanguage(text) === 'de';

const wordPattern = /[\p{L}\p{N}][\p{L}\p{N}_.-]*[\p{L}\p{N}]|[\p{L}\p{N}]/gu;
const digit = /\p{Nd}/u;

function isName(word: string): boolean {
  return /^\p{Lu}/u.test(word) || digit.test(word);
}

/** Names and numbers: capitalized within a sentence, or with a digit. */
function names(text: string): string[] {
  const first = /[\p{L}\p{N}]+/u.exec(text)?.[0];
  return contentWords(text).filter((word) => isName(word) && (word !== first || digit.test(word)));
}

function namesFirst(text: string): string[] {
  return [...names(text), ...contentWords(text)];
}

function lower(word: string): string {
  return word.toLowerCase();
}
