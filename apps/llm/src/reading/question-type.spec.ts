import { describe, expect, it } from 'vitest';
import { asksForCode, compares } from './question-type.js';

describe('asksForCode', () => {
  it.each([
    'How do I start the server?',
    'Which command lists the users?',
    'Show me a code example for uploads',
    'What does --retries do?',
    'What is in /etc/mill.conf?',
    'Is max_size a limit?',
  ])('is true for %s', (question) => expect(asksForCode(question)).toBe(true));

  it.each([
    'Which formats can be read?',
    'What does the mill do?',
    'How many people work here?',
    'Who runs it?',
  ])('is false for %s', (question) => expect(asksForCode(question)).toBe(false));
});

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
