/** A turn of a conversation, as far as a question may refer to it. */
interface Turn {
  readonly role: string;
  readonly content: string;
}

const refersBack =
  /\b(?:it|its|he|him|his|she|her|hers|they|them|their|theirs|this|that|these|those|there|then|one|ones|the (?:former|latter|same|other))\b/i;
const continues = /^(?:and|but|or|so|what about|how about)\b/i;
/** Words that name nothing which a further question could be about. */
const empty = new Set(
  (
    'a an the of in on at to for by with from and or but is was are were be been being do does did done can could will would ' +
    'shall should may might must have has had what which who whom whose when where why how many much not no yes it its he ' +
    'him his she her they them their this that these those there here then than so as if about into over under out up down ' +
    'i you we me us my your our mine yours please tell give show explain know find name list also any some all more most ' +
    'other such only just very get got make made use used using'
  ).split(' '),
);
/** A question with more words of its own than this stands for itself; with so many before a pronoun, that refers to them. */
const ownWords = { continuing: 4, referring: 6, before: 3 };
/** Words that are taken over at most: of the last question, and of the answer to it. */
const most = { question: 6, answer: 4 };

/**
 * The last question with the words that it refers to, where it refers to something: those of the user's question before it,
 * and names of the answer to that. `and who paid for it?` after `Who built the Zorvan observatory?` becomes
 * `and who paid for it? built Zorvan observatory`. A question that stands for itself stays as it is. No model is asked.
 */
export function condenseQuestion(turns: readonly Turn[]): string {
  const last = turns.findLastIndex(({ role }) => role === 'user');
  const question = turns[last]?.content ?? turns.at(-1)?.content ?? '';
  const before = turns.slice(0, Math.max(0, last));
  const asked = before.findLast(({ role }) => role === 'user');
  if (!asked || !isFollowUp(question)) return question;
  const answer = before.findLast(({ role }) => role === 'assistant');
  const known = new Set(wordsOf(question).map(lower));
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
  const fromQuestion = fresh(namesFirst(subject), most.question);
  const fromAnswer = fresh(names(withoutMarkers(answer?.content ?? '')), most.answer);
  return [question, ...fromQuestion, ...fromAnswer].join(' ');
}

/** It has next to no words of its own, begins as a continuation does, or refers to something that it does not name before. */
function isFollowUp(question: string): boolean {
  const words = wordsOf(question).length;
  if (words <= 1) return true;
  if (continues.test(question.trim())) return words <= ownWords.continuing;
  const reference = refersBack.exec(question);
  return (
    reference !== null &&
    words <= ownWords.referring &&
    wordsOf(question.slice(0, reference.index)).length < ownWords.before
  );
}

/** Words that tell something, as they are written. */
function wordsOf(text: string): string[] {
  return (text.match(/[\p{L}\p{N}][\p{L}\p{N}_.-]*[\p{L}\p{N}]|[\p{L}\p{N}]/gu) ?? []).filter(
    (word) => !empty.has(lower(word)),
  );
}

/** Names and numbers: capitalised within a sentence, or with a digit. */
function names(text: string): string[] {
  const first = /[\p{L}\p{N}]+/u.exec(text)?.[0];
  return wordsOf(text).filter((word) => (/^\p{Lu}/u.test(word) && word !== first) || /\p{Nd}/u.test(word));
}

function namesFirst(text: string): string[] {
  return [...names(text), ...wordsOf(text)];
}

function withoutMarkers(text: string): string {
  return text.replaceAll(/\[\d+\]/g, ' ');
}

function lower(word: string): string {
  return word.toLowerCase();
}
