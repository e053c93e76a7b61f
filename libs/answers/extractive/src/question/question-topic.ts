import { stemsOf } from '../stems.js';

/** `how many calories does`: the noun before the verb. */
const counted =
  /\bhow (?:many|much) ((?:[\p{L}-]+ ){0,2}?[\p{L}-]+) (?:is|are|was|were|do|does|did|can|could|may|must|will|would|should|has|have|had|in|of|at|per)\b/iu;
/** Units, and nouns that texts replace by a number or by a name. */
const general = new Set(
  stemsOf(
    'money time people persons things pieces percent litres liters kilograms grams metres meters kilometres miles euros pounds ' +
      'dollars cents hours minutes days weeks months years degrees words points employees copies',
  ),
);
/** Last words of questions that name nothing. */
const closing =
  /^(?:there|here|then|again|too|now|today|anyway|please|away|back|down|off|out|more|long|mean|work|take|last|happen|happens|used|allowed|needed|possible|time|like|different|other)$/i;
const minLetters = 4;

/** What a question is about, as stems: the things that are counted, and the thing at its end. */
export interface QuestionTopic {
  readonly counted: readonly string[];
  readonly last: readonly string[];
}

/** Finds what a question is about: `calories` and `tagine` of `How many calories are in the tagine?` */
export function questionTopic(question: string): QuestionTopic {
  const things = stemsOf(counted.exec(question)?.[1] ?? '').filter((stem) => !general.has(stem));
  const last = question.match(/\p{L}[\p{L}-]*/gu)?.at(-1) ?? '';
  const isNamed = last.length >= minLetters && !closing.test(last);
  return { counted: things.slice(-1), last: isNamed ? stemsOf(last) : [] };
}
