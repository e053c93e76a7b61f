import { describe, expect, it } from 'vitest';
import { halfOf, readDocuments, readQuestions } from './questions.js';

const questions = readQuestions();
const idsOf = (test: (question: (typeof questions)[number]) => boolean) =>
  questions.filter(test).map(({ id }) => id);

describe('the questions', () => {
  it('name documents that exist', () => {
    const names = new Set(readDocuments().map(({ kind, name }) => `${kind}/${name}`));
    const isMissing = (kind: string, name: string) => !names.has(`${kind}/${name}`);
    expect(idsOf(({ kind, documents }) => documents.some((name) => isMissing(kind, name)))).toEqual([]);
  });

  it('expect a text of a document, except where there is none to expect', () => {
    const free = new Set(['small-talk', 'unanswerable']);
    const expectsText = ({ answers, all, documents }: (typeof questions)[number]) =>
      answers.length + all.length > 0 && documents.length > 0;
    expect(idsOf((question) => expectsText(question) === free.has(question.type))).toEqual([]);
    expect(idsOf(({ type, turns }) => (type === 'follow-up') !== turns.length > 1)).toEqual([]);
  });

  it('have identifiers of their own, which split them into two halves', () => {
    expect(new Set(questions.map(({ id }) => id)).size).toBe(questions.length);
    expect(idsOf(({ id }) => halfOf(id) === 'tune').length / questions.length).toBeCloseTo(0.5, 1);
  });
});
