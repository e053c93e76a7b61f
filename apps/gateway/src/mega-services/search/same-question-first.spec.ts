import type { RetrievedDocument } from '#platform/contracts';
import { describe, expect, it } from 'vitest';
import { sameQuestionFirst } from './same-question-first.js';

const passage = (id: string, score: number): RetrievedDocument => ({
  id,
  text: `text ${id}`,
  score,
  metadata: {},
});

describe('sameQuestionFirst', () => {
  const faq = (id: string, heading: string) => ({
    ...passage(id, 0.1),
    metadata: { heading: `FAQ > ${heading}` },
  });
  const documents = [passage('a', 0.9), passage('b', 0.8), faq('c', 'What does Zorvex do?')];
  const idsFor = (question: string) =>
    sameQuestionFirst(question, documents, documents.slice(0, 2)).map(({ id }) => id);

  it('puts the passage below a heading that asks the question before the ranked ones, and keeps their number', () => {
    expect(idsFor('What is Zorvex?')).toEqual(['c', 'a']);
    expect(idsFor('Who wrote Zorvex?')).toEqual(['a', 'b']);
    expect(sameQuestionFirst('What is Zorvex?', documents, [])).toEqual([]);
  });
});
