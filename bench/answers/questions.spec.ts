import { describe, expect, it } from 'vitest';
import { holds } from './judge.js';
import { halfOf, readDocuments, readQuestions } from './questions.js';

const questions = readQuestions();
const idsOf = (test: (question: (typeof questions)[number]) => boolean) =>
  questions.filter(test).map(({ id }) => id);

/** The words of a document without its markup. */
function wordsOf(name: string, text: string): string {
  if (name.endsWith('.csv')) return text.replaceAll(/[,;]/g, ' | ');
  return name.endsWith('.html') ? text.replaceAll(/<[^>]+>/g, ' ').replaceAll('&nbsp;', ' ') : text;
}

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

  it('expect what stands in the named documents, except for what is computed', () => {
    const computed = new Set(['table-operation', 'document-list', 'small-talk', 'unanswerable']);
    const texts = new Map(
      readDocuments().map(({ kind, name, text }) => [`${kind}/${name}`, wordsOf(name, text)]),
    );
    const isAbsent = ({ kind, type, documents, answers, all }: (typeof questions)[number]) => {
      const text = documents.map((name) => texts.get(`${kind}/${name}`)).join('\n');
      const groups = answers.length > 0 ? [...all, answers] : all;
      return !computed.has(type) && !groups.every((group) => group.some((answer) => holds(text, answer)));
    };
    expect(idsOf(isAbsent)).toEqual([]);
  });

  it('have identifiers of their own, which split them into two halves', () => {
    expect(new Set(questions.map(({ id }) => id)).size).toBe(questions.length);
    expect(idsOf(({ id }) => halfOf(id) === 'tune').length / questions.length).toBeCloseTo(0.5, 1);
  });
});
