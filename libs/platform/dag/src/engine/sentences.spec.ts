import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readAll } from '../dag.fixture.js';
import { splitSentences, type TextChunk } from './sentences.js';

interface Chunk extends TextChunk {
  finishReason?: string;
  logprobs?: string[];
  citations?: string[];
  usage?: object;
}

async function* stream(chunks: Chunk[]) {
  yield* chunks;
}

const split = (chunks: Chunk[]) => readAll(splitSentences(stream(chunks))) as Promise<Chunk[]>;
const texts = (chunks: Chunk[]) => chunks.map(({ text }) => text);
const pieces = (...parts: string[]) => parts.map((text) => ({ text }));

describe('splitSentences', () => {
  it.each([
    [
      ['Hel', 'lo. How', ' are you? Fine'],
      ['Hello. ', 'How are you? ', 'Fine'],
    ],
    [
      ['Pi is 3', '.', '14 or so. ', 'Yes.'],
      ['Pi is 3.14 or so. ', 'Yes.'],
    ],
    [
      ['一つ。二つ', '。'],
      ['一つ。', '二つ。'],
    ],
    [['a\nb\n'], ['a\n', 'b\n']],
    [['no end'], ['no end']],
    [[], []],
  ])('%j becomes %j', async (parts, sentences) => {
    expect(texts(await split(pieces(...parts)))).toEqual(sentences);
  });

  it('keeps the choices apart', async () => {
    const chunks = [
      { choice: 0, text: 'A one. A' },
      { choice: 1, text: 'B one. B' },
      { choice: 0, text: ' two.' },
      { choice: 1, text: ' two.' },
    ];
    expect(await split(chunks)).toEqual([
      { choice: 0, text: 'A one. ' },
      { choice: 1, text: 'B one. ' },
      { choice: 0, text: 'A two.' },
      { choice: 1, text: 'B two.' },
    ]);
  });

  it('keeps what rides along: the finish reason on the last sentence, log probabilities joined, usage at the end', async () => {
    const chunks = [
      { text: 'One', logprobs: ['One'], citations: ['1'] },
      { text: '. ', logprobs: ['. '] },
      { text: 'Two', logprobs: ['Two'] },
      { text: '!', logprobs: ['!'], finishReason: 'stop' },
      { text: '', usage: { promptTokens: 1 } },
    ];
    const result = await split(chunks);
    expect(texts(result)).toEqual(['One. ', 'Two!', '']);
    expect(result.flatMap(({ logprobs }) => logprobs ?? [])).toEqual(['One', '. ', 'Two', '!']);
    expect(result.map(({ citations }) => citations)).toEqual([['1'], undefined, undefined]);
    expect(result.map(({ finishReason }) => finishReason)).toEqual([undefined, 'stop', undefined]);
    expect(result[2]).toEqual({ text: '', usage: { promptTokens: 1 } });
  });

  it('loses and adds no text, however it is cut', async () => {
    const part = fc.constantFrom('a', 'Bc', ' ', '.', '!', '? ', '\n', '。', '1', 'Dr. ', '…');
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 30 }), async (parts) => {
        const sentences = texts(await split(pieces(...parts)));
        expect(sentences.join('')).toBe(parts.join(''));
        expect(sentences).not.toContain('');
      }),
    );
  });
});
