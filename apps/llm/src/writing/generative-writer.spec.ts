import type { GenerationChunk } from '#platform/contracts';
import { countWords } from '#platform/foundation';
import { describe, expect, it } from 'vitest';
import type { GenerateRequest } from '../tools/tool-format.js';
import { GenerativeWriter, languageName, type WritingModel } from './generative-writer.js';
import { writeFaqOf } from './writing.service.js';

/** Takes 600 tokens, a word each; answers with a pair. */
class WordModel implements WritingModel {
  readonly maxInputTokens = 600;
  readonly asked: GenerateRequest[] = [];

  countPromptTokens({ messages }: Pick<GenerateRequest, 'messages'>): Promise<number> {
    return Promise.resolve(countWords(messages.map(({ content }) => content).join(' ')));
  }

  async *generate(request: GenerateRequest): AsyncGenerator<GenerationChunk> {
    this.asked.push(request);
    yield { choice: 0, text: 'Q: Who?\nA: You.' };
    const usage = { promptTokens: 1, completionTokens: 1, cachedTokens: 0 };
    yield { choice: 0, text: '', finishReason: 'stop', usage, model: 'm' };
  }
}

const { signal } = new AbortController();

describe('GenerativeWriter', () => {
  it('asks with the text, in the language and within the tokens that were asked for', async () => {
    const model = new WordModel();
    const writer = new GenerativeWriter(model, {
      parameters: { max_tokens: 50, temperature: 0 },
      language: 'German',
    });
    const chunks = writer.write({ kind: 'summary', text: 'The text.' }, signal)[Symbol.asyncIterator]();
    while (!(await chunks.next()).done);
    expect(model.asked).toHaveLength(1);
    expect(model.asked[0]).toMatchObject({ max_tokens: 50, temperature: 0 });
    expect(model.asked[0]?.messages[0]?.content).toMatch(/Write in German\.\n\n### Text:\nThe text\.$/);
  });

  it('knows what it can read, and its pieces fit', async () => {
    const writer = new GenerativeWriter(new WordModel(), { parameters: { max_tokens: 100 } });
    const words = (count: number) => Array<string>(count).fill('word').join(' ');
    expect(await writer.fits(words(400))).toBe(true);
    expect(await writer.fits(words(590))).toBe(false);
    expect(await writer.fits(words(writer.pieceWords))).toBe(true);
  });

  it('writes questions piece after piece, all of them together as many as were asked for', async () => {
    const model = new WordModel();
    const writer = new GenerativeWriter(model, { parameters: {} });
    const text = Array.from({ length: 120 }, (_unused, index) => `Sentence ${index} has five words.`).join(
      ' ',
    );
    const chunks: GenerationChunk[] = [];
    for await (const chunk of writeFaqOf({ text, count: 3, pieceWords: 60 }, writer, signal))
      chunks.push(chunk);
    const written = chunks.map((chunk) => chunk.text).join('');
    expect(written).toBe(Array<string>(3).fill('Q: Who?\nA: You.').join('\n\n'));
    expect(model.asked[0]?.messages[0]?.content).toContain('the most useful question ');
    expect(chunks.filter(({ finishReason }) => finishReason)).toHaveLength(1);
    expect(chunks.at(-1)).toMatchObject({ usage: { promptTokens: 3, completionTokens: 3 }, model: 'm' });
  });
});

describe('languageName', () => {
  it('takes codes and names', () => {
    expect(languageName('de')).toBe('German');
    expect(languageName('German')).toBe('German');
    expect(languageName('auto')).toBeUndefined();
    expect(languageName(undefined)).toBeUndefined();
  });

  it('refuses a code of nothing', () => {
    expect(() => languageName('zz')).toThrow(/language: zz/);
  });
});
