import { describe, expect, it } from 'vitest';
import { missingNames } from './missing-names.js';
import { readPassages } from '../sentence.js';

const metadata = { title: 'Garden pumps', filename: 'price-list.csv' };
const passages = readPassages([
  { id: 'd', text: 'The Lark costs 99 EUR. The Heron has P-120 fittings.', score: 1, metadata },
]);

describe('missingNames', () => {
  it.each([
    ['What does the Falcon cost?', ['Falcon']],
    ["What is the Falcon's price in France?", ['Falcon', 'France']],
    ['Is P-999 in stock?', ['P-999']],
    ['What does --turbo do?', ['--turbo']],
    ['What does code 42 mean?', ['42']],
    ['What does code 120 mean?', []],
    ['How are the 42 pumps sold?', []],
    ['What does the Lark cost?', []],
    ["What is the Lark's price?", []],
    ['What does the lark cost in the Price list?', []],
    ['Is P-120 in stock?', []],
    ['Falcon price', []],
    ['Tell me. What Is The Price?', []],
    ['I looked. There is a lark. Can I buy it?', []],
    ['Was kostet der Falke in Wien?', []],
    ['Wie hoch ist der Preis des Lark?', []],
  ])('finds the names of "%s"', (question, names) => {
    expect(missingNames(question, passages)).toEqual(names);
  });

  it('knows German nouns by their parts', () => {
    const text = 'Urlaubsanträge nimmt Frau Petersen an. Der Transporter fasst 5 Kubikmeter.';
    const german = readPassages([{ id: 'd', text, score: 1, metadata: {} }]);
    expect(missingNames('Wer nimmt den Urlaubsantrag für den Kleintransporter?', german)).toEqual([]);
    expect(missingNames('Was kostet ein Kleiderschrank am Montag?', german)).toEqual(['Kleiderschrank']);
  });

  it('finds none without passages', () => {
    expect(missingNames('What does the Falcon cost?', [])).toEqual([]);
  });
});
