import { describe, expect, it } from 'vitest';
import { asksTheSame } from './same-question.js';

describe('asksTheSame', () => {
  it.each([
    ['What does Zorvex do?', 'What is Zorvex?'],
    ['How do I add a document?', 'how can I add documents'],
    ['What is a mega service?', 'What is a mega service?'],
    ['Which port does it use, and how do I change it?', 'Which port does it use?'],
  ])('is true for the heading "%s" and "%s"', (heading, question) =>
    expect(asksTheSame(heading, question)).toBe(true),
  );

  it.each([
    ['Which license does Zorvex have?', 'What is Zorvex?'],
    ['How do I stop Zorvex?', 'How do I start Zorvex?'],
    ['Zorvex', 'What is Zorvex?'],
    ['What is it?', 'And why?'],
  ])('is false for the heading "%s" and "%s"', (heading, question) =>
    expect(asksTheSame(heading, question)).toBe(false),
  );
});
