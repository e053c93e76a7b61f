import { describe, expect, it } from 'vitest';
import { withOtherPart } from './ellipsis.js';

describe('withOtherPart', () => {
  it.each([
    ['What does the electric stove cost?', 'And the wood one?', 'What does the wood stove cost?'],
    ['What is the fee for adults in July?', 'And for juniors?', 'What is the fee for juniors in July?'],
    ['When does the pool open on Monday?', 'What about on Sunday?', 'When does the pool open on Sunday?'],
    [
      'How long is the warranty of the mower?',
      'And of the battery?',
      'How long is the warranty of the battery?',
    ],
    ['Wie groß ist der kleine Transporter?', 'Und der große?', 'Wie groß ist der große Transporter?'],
    ['Was kostet der Eintritt für Kinder?', 'Und für Gruppen?', 'Was kostet der Eintritt für Gruppen?'],
  ])('%s %s', (previous, followUp, question) => {
    expect(withOtherPart(previous, followUp)).toBe(question);
  });

  it.each([
    ['What does the stove cost?', 'And the wood one?'],
    ['Who built the mill?', 'And for whom?'],
    ['What does the electric stove cost?', 'And the colour?'],
    ['What does the electric stove cost?', 'Where is it?'],
  ])('leaves %s %s', (previous, followUp) => {
    expect(withOtherPart(previous, followUp)).toBeUndefined();
  });
});
