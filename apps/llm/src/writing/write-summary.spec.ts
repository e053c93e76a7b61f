import type { GenerationChunk, SummaryType } from '#platform/contracts';
import { countWords } from '#platform/foundation';
import { array, assert, asyncProperty, integer, stringMatching } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutIntoPieces, writeSummary } from './write-summary.js';
import type { TextWriter, WritingStep } from './text-writer.js';

const usage = { promptTokens: 10, completionTokens: 2, cachedTokens: 1 };

/** Reads 12 words at most; writes the last word of what it reads. */
class ShortWriter implements TextWriter {
  readonly pieceWords = 8;
  readonly steps: WritingStep[] = [];
  running = 0;
  mostRunning = 0;

  fits(text: string): Promise<boolean> {
    return Promise.resolve(countWords(text) <= 12);
  }

  async *write(step: WritingStep, signal: AbortSignal): AsyncGenerator<GenerationChunk> {
    this.steps.push(step);
    this.running += 1;
    this.mostRunning = Math.max(this.mostRunning, this.running);
    await Promise.resolve();
    signal.throwIfAborted();
    yield { choice: 0, text: `${step.text.split(' ').at(-1)}` };
    this.running -= 1;
    yield { choice: 0, text: '', finishReason: 'stop', usage };
  }
}

const sentence = (name: string) => `The ${name} of it all is said here: ${name}.`;
const long = ['alpha', 'beta', 'gamma', 'delta', 'omega'].map(sentence).join(' ');

async function run(text: string, type: SummaryType, writer = new ShortWriter(), pieceWords?: number) {
  const chunks: GenerationChunk[] = [];
  const { signal } = new AbortController();
  for await (const chunk of writeSummary({ text, type, pieceWords }, writer, signal)) chunks.push(chunk);
  return { chunks, kinds: writer.steps.map(({ kind }) => kind), writer };
}

describe('writeSummary', () => {
  it('reads a short text whole, and a long one too where it is told to', async () => {
    expect((await run('A short text.', 'auto')).kinds).toEqual(['summary']);
    const { kinds, writer } = await run(long, 'stuff');
    expect(kinds).toEqual(['summary']);
    expect(writer.steps[0]?.text).toBe(long);
  });

  it('reads the beginning that fits', async () => {
    const { kinds, writer } = await run(long, 'truncate');
    expect(kinds).toEqual(['summary']);
    expect(writer.steps[0]?.text).toBe(long.split(' ').slice(0, 12).join(' '));
  });

  it('summarizes pieces side by side, then their summaries in order', async () => {
    const { kinds, writer, chunks } = await run(long, 'auto');
    expect(kinds.slice(0, -1).every((kind) => kind === 'part')).toBe(true);
    expect(kinds.at(-1)).toBe('combination');
    expect(writer.mostRunning).toBe(4);
    expect(chunks.at(-1)?.usage).toEqual({
      promptTokens: 10 * kinds.length,
      completionTokens: 2 * kinds.length,
      cachedTokens: kinds.length,
    });
  });

  it('combines in rounds where the summaries are still too long, and ends', async () => {
    const endless = Array.from({ length: 60 }, (_unused, index) => sentence(`thing${index}`)).join(' ');
    const { kinds, writer } = await run(endless, 'map_reduce');
    expect(kinds.at(-1)).toBe('combination');
    expect(countWords(writer.steps.at(-1)?.text ?? '')).toBeLessThanOrEqual(12);
  });

  it('refines piece after piece', async () => {
    const { kinds, writer } = await run(long, 'refine');
    expect(kinds[0]).toBe('part');
    expect(new Set(kinds.slice(1))).toEqual(new Set(['refinement']));
    expect(writer.mostRunning).toBe(1);
    expect(writer.steps[1]).toMatchObject({ before: writer.steps[0]?.text.split(' ').at(-1) });
  });

  it('stops when nobody wants it any more', async () => {
    const writer = new ShortWriter();
    const left = AbortSignal.abort(new Error('left'));
    const running = writeSummary({ text: long, type: 'refine' }, writer, left);
    await expect(running.next()).rejects.toThrow('left');
    expect(writer.steps).toEqual([]);
  });
});

describe('cutIntoPieces', () => {
  const { signal } = new AbortController();

  it('cuts at sentence borders and repeats whole sentences only', async () => {
    const text = 'One two three. Four five six. Seven eight. Nine ten eleven twelve.';
    expect(await cutIntoPieces(text, { size: 6 }, signal)).toEqual([
      'One two three. Four five six.',
      'Seven eight. Nine ten eleven twelve.',
    ]);
    expect((await cutIntoPieces(text, { size: 6, overlap: 3 }, signal))[1]).toBe(
      'Four five six. Seven eight.',
    );
  });

  it('loses nothing, repeats nothing and keeps to the size, whatever the text', async () => {
    const words = array(stringMatching(/^[a-z]{1,8}[.!]?$/), { maxLength: 60 });
    await assert(
      asyncProperty(words, integer({ min: 1, max: 20 }), async (list, size) => {
        const pieces = await cutIntoPieces(list.join(' '), { size }, signal);
        expect(pieces.join(' ').split(/\s+/).filter(Boolean)).toEqual(list);
        for (const piece of pieces) expect(countWords(piece)).toBeLessThanOrEqual(size);
      }),
    );
  });
});
