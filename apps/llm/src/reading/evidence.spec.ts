import { describe, expect, it } from 'vitest';
import { candidatesOf, evidenceNames, lexicalEvidence, stemsOf } from './evidence.js';
import { readPassages } from './sentence.js';

function evidenceOf(question: string, passages: { text: string; title: string; heading?: string }[]) {
  const documents = passages.map(({ text, ...metadata }, index) => ({
    id: `${index}`,
    text,
    score: 1,
    metadata,
  }));
  const candidates = candidatesOf(question, readPassages(documents));
  const rows = lexicalEvidence(question, candidates);
  return (index: number, name: (typeof evidenceNames)[number]) => rows[index]![evidenceNames.indexOf(name)];
}

describe('stemsOf', () => {
  it('gives the forms of a word one stem', () => {
    expect(stemsOf('close')).toEqual(stemsOf('closed'));
    expect(stemsOf('file')).toEqual(stemsOf('files'));
    expect(stemsOf('copy')).toEqual(stemsOf('copied'));
    expect(stemsOf('ForwardAgent')).toHaveLength(2);
  });
});

describe('lexicalEvidence', () => {
  it('counts a word of few passages more than one of all', () => {
    const of = evidenceOf('Which exit code does the mill return?', [
      { text: 'The exit code is 1.', title: 'Oven' },
      { text: 'The exit code is 2.', title: 'Mill' },
    ]);
    expect(of(1, 'passage words')).toBeGreaterThan(of(0, 'passage words')!);
    expect(of(1, 'heading words')).toBeGreaterThan(0);
    expect(of(0, 'heading words')).toBe(0);
  });

  it('tells a term that is asked about, and one that a way is asked for', () => {
    const passages = [{ text: 'Grinds finely.', title: 'Mill', heading: 'Mill > --fine-grain' }];
    const asked = evidenceOf('What does --fine-grain do?', passages);
    expect(asked(0, 'term asked')).toBe(1);
    expect(asked(0, 'way and term')).toBe(0);
    const way = evidenceOf('How do I grind?', passages);
    expect(way(0, 'term asked')).toBe(0);
    expect(way(0, 'way and term')).toBe(1);
  });
});
