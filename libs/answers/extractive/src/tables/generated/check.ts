import { answerFromTables } from '../answer-from-tables.js';
import { numberOf, type Generated } from './generator.js';

/** What became of a generated question. `opposite`: none of the shown rows is one of the expected ones. */
export type Verdict = 'right' | 'wrong' | 'opposite' | 'refused';

/** Answers a generated question, and compares the rows and the value with the expected ones. */
export function check({ question, source, expected }: Generated): { verdict: Verdict; text: string } {
  const answer = answerFromTables(question, [source]);
  if (!answer) return { verdict: expected.kind === 'refusal' ? 'right' : 'refused', text: '' };
  const { value, rows, text } = answer;
  switch (expected.kind) {
    case 'refusal':
      return { verdict: 'wrong', text };
    case 'yes-no': {
      const isRight = ['Yes', 'Ja'].includes(value) === expected.is;
      return { verdict: isRight ? 'right' : 'opposite', text };
    }
    case 'number':
      return { verdict: Math.abs(numberOf(value) - expected.number) < 0.0051 ? 'right' : 'wrong', text };
    case 'cell':
      return { verdict: value === expected.value ? 'right' : 'wrong', text };
    case 'value':
      return { verdict: value.startsWith(expected.value) ? 'right' : 'wrong', text };
    default: {
      const wanted = new Set(expected.rows);
      const isRight = rows.length === wanted.size && rows.every((row) => wanted.has(row));
      const isOpposite = rows.length > 0 && !rows.some((row) => wanted.has(row));
      return { verdict: isRight ? 'right' : isOpposite ? 'opposite' : 'wrong', text };
    }
  }
}
