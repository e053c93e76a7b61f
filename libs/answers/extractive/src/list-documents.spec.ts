import { fixedTexts } from '#answers/questions';
import { expect, it } from 'vitest';
import { listDocuments } from './list-documents.js';
import { readPassages } from './sentence.js';

const passage = (id: string, filename: string, text: string, title?: string) => ({
  id,
  text,
  score: 1,
  metadata: { filename, ...(title && { title }) },
});
const passages = readPassages([
  passage('a', 'tarn.md', 'The island is large. Port Ansell is its only town.', 'Tarn (island)'),
  passage('b', 'tarn.md', 'The mole of Port Ansell is new.', 'Tarn (island)'),
  passage('c', 'brand.txt', 'She finished the mole of Port Ansell.'),
  passage('d', 'petrel.md', 'The port side of the bird is white.'),
]);
const list = (topic: string, isPartial = false) =>
  listDocuments(topic, passages, { texts: fixedTexts('en'), isPartial });

it('lists each document that has all words, with a sentence', () => {
  const { opening, blocks } = list('Port Ansell')!;
  expect(opening).toBe('“Port Ansell” is mentioned in these documents:');
  expect(blocks.map(({ lead, text }) => lead + text)).toEqual([
    '- **Tarn (island) (tarn)**: Port Ansell is its only town.',
    '- **brand**: She finished the mole of Port Ansell.',
  ]);
});

it('says that there may be more, and finds nothing else', () => {
  expect(list('mole', true)?.opening).toContain('among others');
  expect(list('harbour')).toBeUndefined();
});
