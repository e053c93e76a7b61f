import { describe, expect, it } from 'vitest';
import { citedSentence, findQuote } from './quote';

const shown = (passage: string, sentence: string) => {
  const span = findQuote(passage, sentence);
  return span && passage.slice(span.start, span.end);
};

describe('citedSentence', () => {
  it('is the sentence before the number, without numbers', () => {
    const answer = 'It opens at 8. [1] It closes at 7 [2] on Fridays. [3]';
    expect(citedSentence(answer, answer.indexOf('[1]'))).toBe('It opens at 8.');
    expect(citedSentence(answer, answer.indexOf('[3]'))).toBe('It closes at 7  on Fridays.');
  });

  it('is empty where nothing stands before', () => {
    expect(citedSentence('[1] Text.', 0)).toBe('');
  });
});

describe('findQuote', () => {
  const passage =
    'Lamps cost (about) $5.\nThe lamps in the hall\nare switched off at ten. The reason is lost.';

  it('finds a quoted sentence whatever its white space, and text that has a meaning in patterns', () => {
    expect(shown(passage, 'the lamps in the hall are switched off at ten.')).toContain('switched off');
    expect(shown(passage, 'Lamps cost (about) $5.')).toBe('Lamps cost (about) $5.');
  });

  it('finds the sentence that has most of the words, and none where they have little in common', () => {
    expect(shown(passage, 'At ten, the hall lamps get switched off.')).toContain('are switched off at ten.');
    expect(shown(passage, 'The moon is made of cheese and honey.')).toBeUndefined();
  });
});
