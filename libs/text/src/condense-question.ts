/** A turn of a conversation. */
interface Turn {
  readonly role: string;
  readonly content: string;
}

const refersBack =
  /\b(?:it|its|he|him|his|she|her|hers|they|them|their|theirs|this|that|these|those|there|then|one|ones|the (?:former|latter|same|other))\b/i;
const person = /\b(?:he|him|his|she|her|hers)\b/i;
const continues = /^(?:and|but|or|so|what about|how about)\b/i;
/** Stop words: a follow-up question cannot be about them. */
const stopWords = new Set(
  (
    'a an the of in on at to for by with from and or but is was are were be been being do does did done can could will would ' +
    'shall should may might must have has had what which who whom whose when where why how many much not no yes it its he ' +
    'him his she her they them their this that these those there here then than so as if about into over under out up down ' +
    'i you we me us my your our mine yours please tell give show explain know find name list also any some all more most ' +
    'other such only just very get got make made use used using'
  ).split(' '),
);
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
 * built Zorvan observatory`. An independent question is returned unchanged. This does not use a model.
 */
export function condenseQuestion(turns: readonly Turn[]): string {
  const last = turns.findLastIndex(({ role }) => role === 'user');
  const question = turns[last]?.content ?? turns.at(-1)?.content ?? '';
  const before = turns.slice(0, Math.max(0, last));
  const previous = before.findLast(({ role }) => role === 'user');
  if (!previous || !isFollowUp(question)) return question;
  const answer = before.findLast(({ role }) => role === 'assistant');
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
  const subject = condenseQuestion(before);
  const fromQuestion = fresh(namesFirst(subject), maxWords.question);
  const fromAnswer = fresh(names(withoutMarkers(answer?.content ?? '')), maxWords.answer);
  return [question, ...fromQuestion, ...fromAnswer].join(' ');
}

/**
 * The last question for a reader of the passages that were found for the condensed question: with the names of the
 * previous question, and for a person the names of the answer. It does not repeat what the previous question asked.
 */
export function questionWithNames(turns: readonly Turn[]): string {
  const last = turns.findLastIndex(({ role }) => role === 'user');
  const question = turns[last]?.content ?? turns.at(-1)?.content ?? '';
  const condensed = condenseQuestion(turns);
  if (condensed === question) return question;
  const before = turns.slice(0, last);
  const known = new Set(contentWords(question).map(lower));
  const asked = names(condenseQuestion(before));
  const answered = names(withoutMarkers(before.findLast(({ role }) => role === 'assistant')?.content ?? ''));
  const all = [...asked, ...(person.test(question) ? answered : [])];
  const subject = all.filter((word) => !known.has(lower(word)));
  return subject.length === 0 ? condensed : [question, ...new Set(subject)].join(' ');
}

/**
 * True if the question has almost only stop words, begins with a conjunction, or refers to a subject that it does
 * not name.
 */
function isFollowUp(question: string): boolean {
  const words = contentWords(question).length;
  if (words <= 1) return true;
  if (continues.test(question.trim())) return words <= ownWords.continuing;
  const reference = refersBack.exec(question);
  return (
    reference !== null &&
    words <= ownWords.referring &&
    contentWords(question.slice(0, reference.index)).length < ownWords.before
  );
}

/** Content words of a text: all but English stop words. */
export function contentWords(text: string): string[] {
  return (text.match(/[\p{L}\p{N}][\p{L}\p{N}_.-]*[\p{L}\p{N}]|[\p{L}\p{N}]/gu) ?? []).filter(
    (word) => !stopWords.has(lower(word)),
  );
}

/** Names and numbers: capitalized within a sentence, or with a digit. */
function names(text: string): string[] {
  const first = /[\p{L}\p{N}]+/u.exec(text)?.[0];
  return contentWords(text).filter(
    (word) => (/^\p{Lu}/u.test(word) && word !== first) || /\p{Nd}/u.test(word),
  );
}

function namesFirst(text: string): string[] {
  return [...names(text), ...contentWords(text)];
}

function withoutMarkers(text: string): string {
  return text.replaceAll(/\[\d+\]/g, ' ');
}

function lower(word: string): string {
  return word.toLowerCase();
}
