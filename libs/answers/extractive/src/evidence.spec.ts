import { describe, expect, it } from 'vitest';
import { candidatesOf, evidenceNames, lexicalEvidence } from './evidence.js';
import { readPassages } from './sentence.js';
import { stemsOf } from './stems.js';

function evidenceOf(
  question: string,
  passages: { text: string; title: string; heading?: string; blocks?: string; filename?: string }[],
) {
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

describe('candidatesOf', () => {
  it('leads a later sentence of a row with the name that the row is about', () => {
    const text =
      'option: grain; what it does: Grinds grain. Nothing is left.\n\noption: oven; what it does: Bakes.';
    const passages = readPassages([{ id: 'd', text, score: 1, metadata: { blocks: 'rr' } }]);
    const candidates = candidatesOf('What is left?', passages);
    expect(candidates.map((candidate) => candidate.name)).toEqual(['grain', 'grain', 'oven']);
    expect(candidates[1]!.text).toBe('grain: Nothing is left.');
    expect(candidates[2]!.lead).toBe('');
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
  it('compares the name of a term without its arguments', () => {
    const passages = ['-p, --port number', '--port-range'].map((term) => ({
      text: 'Grinds.',
      title: 'Mill',
      heading: `Mill > ${term}`,
    }));
    const of = evidenceOf('How do I choose the port?', passages);
    expect(of(0, 'name asked')).toBe(1);
    expect(of(1, 'name asked')).toBe(0.5);
  });

  it('knows a name that the question holds to the letter, also that of a row', () => {
    const of = evidenceOf('What is MILL_PORT?', [
      { text: 'variable: MILL_PORT; what: the port', title: 'Mill', blocks: 'r' },
      { text: 'variable: MILL_PORT_MAX; what: the greatest port', title: 'Mill', blocks: 'r' },
    ]);
    expect([of(0, 'name cited'), of(1, 'name cited')]).toEqual([1, 0]);
  });

  it('tells what a question about the meaning of a thing is answered with', () => {
    const of = evidenceOf('What is a grain mill?', [
      {
        text: 'A grain mill is a machine. The grain mill stands here. It asks for a grain mill.',
        title: 'A',
      },
    ]);
    expect([0, 1, 2].map((index) => of(index, 'definition'))).toEqual([1, 0, 0]);
  });

  it('tells names of a program where one is asked for', () => {
    const passages = [
      { text: 'It reads mill.yaml. It reads a file.', title: 'Mill', filename: 'mill.1.txt' },
    ];
    const of = evidenceOf('Which file does it read?', passages);
    expect([of(0, 'kind of name'), of(1, 'kind of name')]).toEqual([1, 0]);
    expect(evidenceOf('Does the mill read?', passages)(0, 'document asked')).toBe(1);
  });
});
