/** The kind of answer that a question asks for. */
export type QuestionType = 'number' | 'date' | 'person' | 'place' | 'reason' | 'other';

const patterns: readonly [QuestionType, RegExp][] = [
  [
    'number',
    /\bhow (?:many|much|long|old|far|large|big|tall|high|often|fast)\b|\bwhat (?:percent|percentage|number|age|port)\b/,
  ],
  ['date', /^(?:and )?when\b|\b(?:what|which) (?:year|date|day|month|century)\b/],
  ['person', /^(?:and )?who\b|\bwhose\b|\bwhom\b/],
  ['place', /^(?:and )?where\b|\b(?:what|which) (?:country|city|state|place|location)\b/],
  ['reason', /^(?:and )?(?:why|how)\b/],
];

/** The type of a question by its English interrogative words. */
export function questionType(question: string): QuestionType {
  const asked = question.trim().toLowerCase();
  return patterns.find(([, pattern]) => pattern.test(asked))?.[0] ?? 'other';
}

const numberWord =
  /\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|hundred|thousand|million|dozen|half|third|once|twice)\b/i;
const dateWord =
  /\b\d{3,4}\b|\b(?:january|february|march|april|june|july|august|september|october|november|december|monday|tuesday|wednesday|thursday|friday|saturday|sunday|century|bc)\b/i;
const reasonWord = /\b(?:because|due to|since|so that|in order to|by|to)\b/i;
const capitalised = /(?<!^)\b\p{Lu}[\p{Ll}\p{M}]+/gu;
const numeral = /\d[\d.,]*/g;

/** Whether a sentence contains an answer of the given kind; `fresh`: one that does not occur in the question. */
export function answersType(
  type: QuestionType,
  sentence: string,
  question: string,
): { holds: boolean; fresh: boolean } {
  const newNumber = () => (sentence.match(numeral) ?? []).some((number) => !question.includes(number));
  const newName = () => {
    const asked = question.toLowerCase();
    return (sentence.match(capitalised) ?? []).some((name) => !asked.includes(name.toLowerCase()));
  };
  switch (type) {
    case 'number':
      return { holds: numberWord.test(sentence), fresh: newNumber() };
    case 'date':
      return { holds: dateWord.test(sentence), fresh: newNumber() };
    case 'person':
    case 'place':
      return { holds: newName(), fresh: newName() };
    case 'reason':
      return { holds: reasonWord.test(sentence), fresh: false };
    default:
      return { holds: false, fresh: false };
  }
}

/** Questions about two things or more. */
const comparison =
  /\b(?:compare[ds]?|comparison|differences?|differ|versus|vs\.?|rather than|in common)\b|\b(?:better|cheaper|faster|older|larger|longer|more|less|higher|lower)\b.*\b(?:or|than)\b/i;

/** Whether a question compares things, so that one block does not answer it. */
export function compares(question: string): boolean {
  return comparison.test(question);
}

/** Questions that one row of a table does not answer: the most, the first, a number of rows, a sum. */
const overRows =
  /\b(?:most|least|fewest|highest|lowest|largest|smallest|biggest|longest|shortest|oldest|youngest|newest|latest|earliest|cheapest|dearest|first|last|best|worst|total|sum|average|(?<!\b(?:do|does|did)\b.{0,80})mean|altogether|overall|maximum|minimum)\b|\bmost expensive\b|^(?:and )?how many\b|\b(?:without|except|not|never|more than|less than|fewer than|at least|at most|over|under|above|below|between)\b/i;

/** Whether the rows of a table have to be seen together for an answer. */
export function asksOverRows(question: string): boolean {
  return overRows.test(question) || compares(question);
}
