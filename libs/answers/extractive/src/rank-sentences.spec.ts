import { expect, it } from 'vitest';
import { evidenceNames } from './evidence.js';
import { rankSentences, type Fusion, type Judgement } from './rank-sentences.js';
import { readPassages } from './sentence.js';

const judgement: Judgement = {
  rank: { weights: evidenceNames.map((name) => Number(name === 'reader')), bias: 0 },
  confidence: { weights: [...evidenceNames, 'logit', 'lead'].map(() => 0), bias: 0 },
  thresholds: { near: 0.1, closest: 0.2, answer: 0.55 },
  elsewhere: 0,
};
const fusion: Fusion = { evidence: [...evidenceNames], prose: judgement, outlined: judgement };
const reader = {
  read: (_question: string, sentences: readonly unknown[]) =>
    Promise.resolve({ scores: sentences.map(() => 0), promptTokens: 1 }),
};
const rank = (question: string, ...chunks: { text: string; heading?: string }[]) =>
  rankSentences(
    question,
    readPassages(
      chunks.map(({ text, heading }, index) => ({
        id: String(index),
        text,
        score: 1,
        metadata: { title: 'Rules', ...(heading && { heading: `Rules > ${heading}` }) },
      })),
    ),
    { reader, fusion, asked: [] },
  );

it('trusts German passages for German questions more', async () => {
  const german = { text: 'Der Resturlaub verfällt am 31. März des folgenden Jahres.' };
  expect((await rank('Wann verfällt der Resturlaub?', german)).certainty).toBe('answer');
  expect((await rank('When does the leave expire?', { text: 'The leave expires in March.' })).certainty).toBe(
    'closest',
  );
});

it('puts the part that a question names first', async () => {
  const { ranked, certainty } = await rank(
    'What does section 6 say?',
    { text: 'A keeper is a person.', heading: 'Section 1. Words' },
    { text: 'The water is near.', heading: 'Section 6. Water' },
  );
  expect(ranked[0]!.candidate.text).toContain('The water is near.');
  expect(certainty).toBe('answer');
});
