import { describe, expect, it } from 'vitest';
import { englishWordsFor, englishWordsOf, withEnglishQuestionWords } from './english-words.js';

describe('englishWordsFor', () => {
  it.each([
    ['Kaution', 'deposit'],
    ['Häuser', 'house'],
    ['mieteten', 'rent'],
    ['gereinigt', 'cleaned'],
    ['gemietet', 'rent'],
  ])('%s: %s', (german, english) => {
    expect(englishWordsFor(german)).toContain(english);
  });

  it('knows the parts of a compound', () => {
    expect(englishWordsFor('Kündigungsfrist')).toEqual(expect.arrayContaining(['notice', 'period']));
    expect(englishWordsFor('Kellertür')).toEqual(expect.arrayContaining(['door', 'cellar']));
  });

  it('does not guess', () => {
    expect(englishWordsFor('Zebulon')).toEqual([]);
    expect(englishWordsFor('Skylark')).toEqual([]);
  });
});

describe('englishWordsOf', () => {
  it('has the words with a meaning, each once', () => {
    expect(englishWordsOf('Wer bezahlt die Reparatur des Fahrrads?')).toEqual(
      expect.arrayContaining(['repair', 'bicycle']),
    );
    expect(englishWordsOf('Wie ist das?')).toEqual([]);
  });
});

describe('withEnglishQuestionWords', () => {
  it.each([
    ['Wie viele Plätze gibt es?', 'how many Plätze ?'],
    ['Wann wird der Tank geleert?', 'when Tank geleert?'],
    ['Was darf nicht in den Ofen?', 'what not Ofen?'],
  ])('%s', (german, english) => {
    expect(withEnglishQuestionWords(german)).toBe(english);
  });
});
