import type { AnswerForm } from '#answers/questions';
import { describe, expect, it } from 'vitest';
import type { AnswerBlock } from './answer-block.js';
import { applyForm } from './apply-form.js';

const block = (text: string, quote = text): AnswerBlock => ({
  text,
  quote,
  lead: 'Fees: ',
  answer: { start: 0, end: text.length },
  passage: 1,
  documentId: 'd',
});
const formed = (form: AnswerForm, text: string, quote?: string, question = '') => {
  const { blocks, declined } = applyForm(form, question, [block(text, quote)]);
  return { text: blocks[0]!.text, isDeclined: declined !== '' };
};

describe('applyForm', () => {
  it.each([
    ['sentence', 'Tea is hot. It costs 3 euros.', 'It costs 3 euros.', 'It costs 3 euros.'],
    ['number', 'Tea is hot. It costs 3.50 euros.', 'It costs 3.50 euros.', '3.50'],
    ['date', 'The fair is on 13 July. Come.', 'The fair is on 13 July.', '13 July'],
    ['list', 'Take:\n- tea\n- salt', 'salt', 'Take:\n- tea\n- salt'],
    ['numbered-list', 'Take:\n- tea\n- salt', 'salt', 'Take:\n1. tea\n2. salt'],
    ['table', '| a |\n| --- |\n| 1 |', 'a: 1', '| a |\n| --- |\n| 1 |'],
  ] as const)('writes a %s', (form, text, quote, expected) =>
    expect(formed(form, text, quote)).toEqual({ text: expected, isDeclined: false }),
  );

  it('says where quotes cannot have the form, and shows the sentence', () => {
    expect(formed('word', 'Tea is hot. Ice is cold.', 'Ice is cold.')).toEqual({
      text: 'Ice is cold.',
      isDeclined: true,
    });
    expect(formed('number', 'From 3 to 5 euros.')).toEqual({ text: 'From 3 to 5 euros.', isDeclined: true });
    expect(formed('table', 'Tea is hot.').isDeclined).toBe(true);
  });

  it('does not take a number of the question for the answer', () => {
    expect(formed('number', 'In 2025 it had 7 rooms.', undefined, 'How many rooms in 2025?').text).toBe('7');
  });
});
