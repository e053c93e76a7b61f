import { describe, expect, it } from 'vitest';
import { compares } from './question-type.js';

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
