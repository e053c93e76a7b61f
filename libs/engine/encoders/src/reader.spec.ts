import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fileURLToPath } from 'node:url';
import { TextTokenizer } from '#engine/models';
import { loadReader, type Reader } from './reader.js';
import { ReaderTokens } from './reader-tokens.js';

const sentences = [
  'Plague was a constant danger.',
  'Plague occurred in Venice 22 times between 1361 and 1528.',
  'The Great Plague of London killed 100,000 people.',
  "It ended in Zürich's suburbs.",
];
const given = sentences.map((text, index) => ({
  text,
  before: sentences[index - 1] ?? '',
  after: sentences[index + 1] ?? '',
  passage: sentences.join(' '),
}));
const question = 'How many times did plague occur in Venice?';

/** What the training code made of the same sentences. */
const trained = {
  second: {
    ids: [
      2, 321, 492, 1596, 1093, 341, 4881, 1194, 143, 4118, 375, 67, 3, 341, 4881, 343, 19, 2416, 4491, 134,
      29, 3, 341, 4881, 4295, 143, 4118, 375, 6232, 1596, 630, 3834, 80, 69, 153, 2434, 73, 70, 29, 3, 133,
      1137, 341, 4881, 150, 1168, 142, 135, 5860, 2497, 30, 1883, 448, 29, 3,
    ],
    segments: [
      4, 4, 4, 1, 4, 1, 1, 1, 4, 1, 1, 4, 16, 11, 11, 12, 12, 10, 10, 10, 12, 16, 6, 6, 6, 7, 6, 6, 9, 6, 5,
      9, 9, 9, 7, 9, 9, 9, 7, 16, 15, 13, 14, 14, 15, 13, 13, 13, 13, 13, 15, 13, 13, 15, 16,
    ],
  },
  fourth: {
    ids: [
      2, 321, 492, 1596, 1093, 341, 4881, 1194, 143, 4118, 375, 67, 3, 133, 1137, 341, 4881, 150, 1168, 142,
      135, 5860, 2497, 30, 1883, 448, 29, 3, 200, 5060, 143, 87, 176, 323, 52, 24, 524, 7579, 11, 29, 3, 3,
    ],
    segments: [
      4, 4, 4, 3, 4, 2, 2, 3, 4, 3, 3, 4, 16, 12, 10, 11, 11, 12, 10, 10, 10, 10, 10, 12, 10, 10, 12, 16, 7,
      5, 7, 8, 8, 8, 7, 7, 5, 5, 5, 7, 16, 16,
    ],
  },
  scores: [-1.14, 5.34, 1.53, -1.65],
};

describe('ReaderTokens', () => {
  it('writes tokens and kinds as they were trained', async () => {
    const tokenizer = await TextTokenizer.load(
      fileURLToPath(new URL('../../../../models/nano-reader', import.meta.url)),
    );
    const tokens = new ReaderTokens((word) => tokenizer.encode(word));
    const [, second, , fourth] = tokens.encode(question, given);
    expect({ second, fourth }).toEqual({ second: trained.second, fourth: trained.fourth });
  });

  it('marks the words of a query and a passage that match', () => {
    const ids: Record<string, number> = {
      When: 10,
      did: 11,
      plague: 12,
      occur: 13,
      Plague: 12,
      occurred: 14,
      in: 15,
      Venice: 16,
    };
    const tokens = new ReaderTokens((word) => [ids[word]!]);
    const all = (query: number, passage: number) => ({ query, passage });
    expect(tokens.encodePair('When did plague occur', 'Plague occurred in Venice', all)).toEqual({
      ids: [2, 10, 11, 12, 13, 3, 3, 12, 14, 15, 16, 3, 3],
      segments: [4, 4, 4, 1, 1, 16, 16, 6, 6, 7, 8, 16, 16],
    });
    const cut = tokens.encodePair('When did plague occur', 'Plague occurred in Venice', () => ({
      query: 3,
      passage: 1,
    }));
    expect(cut).toEqual({ ids: [2, 10, 11, 12, 3, 3, 12, 3, 3], segments: [4, 4, 4, 1, 16, 16, 6, 16, 16] });
  });

  it('cuts every part to its most tokens', () => {
    const tokens = new ReaderTokens(() => [9]);
    const long = 'word '.repeat(200);
    const [cut] = tokens.encode(long, [{ text: long, before: long, after: long, passage: long }]);
    expect(cut?.ids).toHaveLength(36 + 80 + 30 + 18 + 5);
    expect(cut?.segments).toHaveLength(36 + 80 + 30 + 18 + 5);
  });
});

describe('the bundled reader', () => {
  let reader: Reader;

  beforeAll(async () => {
    reader = await loadReader('nano-reader', { workers: 1 });
  });
  afterAll(() => reader?.close());

  it('scores sentences as the training code does, up to the rounding to int8', async () => {
    const { scores, promptTokens } = await reader.read(question, given);
    scores.forEach((score, index) => expect(Math.abs(score - trained.scores[index]!)).toBeLessThan(0.4));
    expect(promptTokens).toBe(197);
  });

  it('gives a sentence the same score alone and among others', async () => {
    const together = await reader.read(question, given);
    const alone = await reader.read(question, given.slice(1, 2));
    expect(alone.scores[0]).toBe(together.scores[1]);
  });
});
