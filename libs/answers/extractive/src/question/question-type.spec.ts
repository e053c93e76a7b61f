import { describe, expect, it } from 'vitest';
import { asksOverRows, compares } from './question-type.js';

describe('compares', () => {
  it.each([
    'What is the difference between A and B?',
    'Is the Lark cheaper than the Heron?',
    'Compare tea and coffee',
  ])('is true for %s', (question) => expect(compares(question)).toBe(true));
  it.each(['What does the Lark cost?', 'When was it built?'])('is false for %s', (question) =>
    expect(compares(question)).toBe(false),
  );
});

describe('asksOverRows', () => {
  it.each(['What is the mean price?', 'Which pump is the cheapest?', 'How many are open?'])(
    'is true for %s',
    (question) => expect(asksOverRows(question)).toBe(true),
  );
  it.each(['What does error 402 mean?', 'What does the Lark cost?'])('is false for %s', (question) =>
    expect(asksOverRows(question)).toBe(false),
  );
});
