import { describe, expect, it } from 'vitest';
import { asksForCode } from './asks-for-code.js';

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
