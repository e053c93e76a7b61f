import { describe, expect, it } from 'vitest';
import { condenseQuestion, questionWithNames } from './condense-question.js';

const turns = (...texts: string[]) =>
  texts.map((content, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', content }));
const opening = [
  'Who built the Zorvan observatory?',
  'The Zorvan observatory was built by Ann Lee in 1930. [1]',
];

describe('condenseQuestion', () => {
  it.each([
    ['and who paid for it?', ['Zorvan', 'observatory']],
    ['When?', ['Zorvan', 'observatory']],
    ['How tall is it?', ['Zorvan', 'observatory']],
    ['Where does she live?', ['Ann', 'Lee']],
    ['What about its telescope?', ['Zorvan', 'observatory']],
    ['Why did they do that?', ['Zorvan']],
    ['And the telescope?', ['Zorvan']],
  ])('adds the subject of the conversation to: %s', (question, words) => {
    const condensed = condenseQuestion(turns(...opening, question));
    expect(condensed.startsWith(question)).toBe(true);
    expect(condensed.split(' ')).toEqual(expect.arrayContaining(words));
  });

  it('goes back over several follow-ups', () => {
    const condensed = condenseQuestion(
      turns(...opening, 'and who paid for it?', 'I could not find the answer.', 'And when was it opened?'),
    );
    expect(condensed).toContain('Zorvan');
  });

  it.each([
    'Which port does the gateway use?',
    'When does the office in Lisbon open its doors to visitors?',
    'Who discovered penicillin?',
    'How do I start MegaNest?',
  ])('%s stands for itself', (question) => {
    expect(condenseQuestion(turns(...opening, question))).toBe(question);
  });

  it('leaves a first question as it is, and does with turns of the system', () => {
    expect(condenseQuestion(turns('and who paid for it?'))).toBe('and who paid for it?');
    expect(condenseQuestion([{ role: 'system', content: 'Be brief.' }])).toBe('Be brief.');
    expect(condenseQuestion([])).toBe('');
  });
});

describe('questionWithNames', () => {
  it.each([
    ['When did it close?', 'When did it close? Zorvan'],
    ['Where does she live?', 'Where does she live? Zorvan Ann Lee 1930'],
    ['Which port does the gateway use?', 'Which port does the gateway use?'],
  ])('%s is read as %s', (question, read) => {
    expect(questionWithNames(turns(...opening, question))).toBe(read);
  });
});
