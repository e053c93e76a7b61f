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
