import { describe, expect, it } from 'vitest';
import { holds } from '../answers/judge.js';
import { halfOf } from '../answers/questions.js';
import { readDocuments, readQuestions } from './questions.js';

const questions = readQuestions();
const documents = readDocuments();
const idsOf = (test: (question: (typeof questions)[number]) => boolean) =>
  questions.filter(test).map(({ id }) => id);

/** The words of a document without its markup. */
function wordsOf({ name, text }: (typeof documents)[number]): string {
  return `${name}\n${name.endsWith('.html') ? text.replaceAll(/<[^>]+>/g, ' ') : text}`;
}

describe('the documents', () => {
  it('are always the same, and have sixty thousand words of five kinds', () => {
    const words = documents.reduce((sum, { text }) => sum + text.split(/\s+/).length, 0);
    expect(words).toBeGreaterThan(60_000);
    expect(new Set(documents.map(({ kind }) => kind)).size).toBe(5);
    expect(readDocuments().map(({ text }) => text)).toEqual(documents.map(({ text }) => text));
  });

  it('have different names within a kind', () => {
    const names = documents.map(({ kind, name }) => `${kind}/${name}`);
    expect(new Set(names).size).toBe(names.length);
  });
});

describe('the questions', () => {
  it('are at least 100, with identifiers of their own, in two halves', () => {
    expect(questions.length).toBeGreaterThanOrEqual(100);
    expect(new Set(questions.map(({ id }) => id)).size).toBe(questions.length);
    expect(idsOf(({ id }) => halfOf(id) === 'tune').length / questions.length).toBeCloseTo(0.5, 1);
  });

  it('end with a turn of the user, and follow-ups alone have more turns', () => {
    expect(idsOf(({ turns }) => turns.length % 2 === 0)).toEqual([]);
    expect(idsOf(({ type, turns }) => (type === 'follow-up') !== turns.length > 1)).toEqual([]);
    expect(idsOf(({ queries }) => queries.length === 0 || queries.length > 3)).toEqual([]);
  });

  it('expect facts that are in the named documents', () => {
    const texts = new Map(documents.map((each) => [`${each.kind}/${each.name}`, wordsOf(each)]));
    const isAbsent = ({ kind, facts, documents: names }: (typeof questions)[number]) => {
      const text = names.map((name) => texts.get(`${kind}/${name}`)).join('\n');
      return facts.length === 0 || !facts.every((forms) => forms.some((form) => holds(text, form)));
    };
    expect(idsOf(isAbsent)).toEqual([]);
  });

  it('do not contain the facts in their words', () => {
    const given = ({ turns, facts, rows }: (typeof questions)[number]) =>
      !rows && facts.every((forms) => forms.some((form) => holds(turns.at(-1)!, form)));
    // The name of a row shows that the row is there.
    expect(idsOf(given).filter((id) => !/^registers-02[78]$/.test(id))).toEqual([]);
  });
});
