import { describe, expect, it } from 'vitest';
import { alignQuestion } from './align-question.js';
import { readPassages } from '../sentence.js';

const metadata = { title: 'Warranty', filename: 'web-shop.md' };
const text = 'The battery of the kettle has a warranty of 4 years. The website has the form. Cost: 9 crowns.';
const passages = readPassages([{ id: 'd', text, score: 1, metadata }]);

describe('alignQuestion', () => {
  it.each([
    ['how long is the waranty of the battrey', 'how long is the warranty of the battery'],
    ['Is it four years?', 'Is it 4 years?'],
    ['Where on the web site is it?', 'Where on the web site is it? website'],
    ['What does the warranty cover?', 'What does the warranty cover?'],
    ['Was it lost?', 'Was it lost?'],
    ['Which nettle is it?', 'Which nettle is it?'],
  ])('%s', (question, aligned) => {
    expect(alignQuestion(question, passages)).toBe(aligned);
  });

  it('leaves a question without passages', () => {
    expect(alignQuestion('waranty', [])).toBe('waranty');
  });
});
