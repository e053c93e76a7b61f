import path from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { GenerationParameters } from '#platform/contracts';
import { projectRoot } from '#platform/foundation';
import { TokenVocabulary } from '#engine/models';
import type { DecoderBackend, DecoderSequence, ForwardItem } from '../decoder-backend.js';
import { GenerationScheduler, PrefillPacer } from './generation-scheduler.js';
import type { GenerationEvent } from '../generator-interface.js';

const vocabularySize = 32;

class FakeSequence implements DecoderSequence {
  constructor(
    public tokens: number[] = [],
    private readonly onRelease: () => void = () => {},
  ) {}

  get length(): number {
    return this.tokens.length;
  }

  fork(): FakeSequence {
    return new FakeSequence([...this.tokens], this.onRelease);
  }

  truncate(length: number): void {
    this.tokens.length = length;
  }

  release(): void {
    this.onRelease();
  }
}

/** Says after every token that the next number follows, 10 after 29, and keeps a diary of its passes. */
class CountingBackend implements DecoderBackend<FakeSequence> {
  readonly name = 'fake';
  readonly vocabularySize = vocabularySize;
  readonly prefillChunk = 4;
  readonly draftMargin = 0.1;
  readonly takesImages = false;
  readonly diary: string[] = [];
  released = 0;
  onPass: (tokens: number) => void = () => {};

  constructor(
    readonly maxBatch = 8,
    readonly maxDrafts = 7,
    private readonly room = Infinity,
  ) {}

  readonly heldBytes = { sequences: 0, prefixes: 0 };

  hasRoomFor(tokens: number): boolean {
    return tokens <= this.room;
  }

  openSequence(): FakeSequence {
    return new FakeSequence([], () => this.released++);
  }

  prefill(item: ForwardItem<FakeSequence>): Promise<Float32Array> {
    this.diary.push(`prompt ${item.tokens.join()}`);
    return Promise.resolve(this.append(item));
  }

  decode(items: readonly ForwardItem<FakeSequence>[]): Promise<Float32Array[]> {
    this.diary.push(`answers ${items.map(({ tokens }) => tokens.join()).join(' ')}`);
    return Promise.resolve(items.map((item) => this.append(item)));
  }

  dispose(): Promise<void> {
    return Promise.resolve();
  }

  private append({ sequence, tokens, logits }: ForwardItem<FakeSequence>): Float32Array {
    sequence.tokens.push(...tokens);
    this.onPass(tokens.length);
    const rows = new Float32Array(logits * vocabularySize);
    tokens.slice(tokens.length - logits).forEach((token, row) => {
      rows[row * vocabularySize + (token >= 29 ? 10 : token + 1)] = 5;
    });
    return rows;
  }
}

describe('GenerationScheduler', () => {
  let vocabulary: TokenVocabulary;
  beforeAll(async () => {
    vocabulary = await TokenVocabulary.load(path.join(projectRoot, 'models', 'nano-chat'));
  });

  function start(backend: CountingBackend, maxAnswers = 8) {
    const config = {
      vocabularySize,
      layers: 1,
      keyValueHeads: 1,
      headDimension: 1,
      contextLength: 100,
      endTokenIds: [20],
      defaults: { temperature: 0 },
    };
    const scheduler = new GenerationScheduler({ config, vocabulary, backend }, maxAnswers);
    return (promptIds: number[], parameters: GenerationParameters, signal?: AbortSignal, client?: string) => {
      const events: GenerationEvent[] = [];
      const done = scheduler.run({
        promptIds,
        parameters,
        ...(client !== undefined && { client }),
        signal: signal ?? new AbortController().signal,
        emit: (event) => events.push(event),
      });
      return { done, events, tokens: () => events.flatMap((event) => event.tokenIds) };
    };
  }

  it('puts a prompt in by pieces and writes until the end token', async () => {
    const backend = new CountingBackend();
    const request = start(backend)([1, 2, 3, 4, 5, 16], {});
    await request.done;
    expect(backend.diary.slice(0, 2)).toEqual(['prompt 1,2,3,4', 'prompt 5,16']);
    expect(request.tokens()).toEqual([17, 18, 19]);
    expect(request.events.at(-1)).toMatchObject({
      finishReason: 'stop',
      usage: { promptTokens: 6, completionTokens: 4, cachedTokens: 0 },
    });
    expect(backend.released).toBe(1);
  });

  it('ends an answer that repeats a phrase, unless every token is asked for', async () => {
    const parameters = { max_tokens: 95, logit_bias: { 20: -100 } };
    const request = start(new CountingBackend())([10], parameters);
    await request.done;
    // 20 tokens, four times.
    expect(request.tokens()).toHaveLength(80);
    expect(request.events.at(-1)?.finishReason).toBe('stop');
    const whole = start(new CountingBackend())([10], { ...parameters, ignore_eos: true });
    await whole.done;
    expect(whole.tokens()).toHaveLength(95);
    expect(whole.events.at(-1)?.finishReason).toBe('length');
  });

  it('lets a second request join between passes, in one batch', async () => {
    // Every pass takes as long as any other; on a busy machine a prefill may take longer than all passes after it.
    let now = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => now++);
    onTestFinished(() => void vi.restoreAllMocks());
    const backend = new CountingBackend();
    const run = start(backend);
    const parameters = { max_tokens: 50, ignore_eos: true };
    const requests = [run([10], parameters), run([22], parameters)];
    await Promise.all(requests.map(({ done }) => done));
    expect(backend.diary.some((pass) => /^answers \d+ \d+$/.test(pass))).toBe(true);
    expect(requests[1]!.tokens().slice(0, 3)).toEqual([23, 24, 25]);
  });

  it('splits answers into passes that the backend can take', async () => {
    const backend = new CountingBackend(1);
    await start(backend)([10], { n: 3, max_tokens: 3 }).done;
    expect(
      backend.diary.filter((pass) => pass.startsWith('answers')).every((pass) => !/ .* /.test(pass)),
    ).toBe(true);
    expect(backend.released).toBe(3);
  });

  it('runs no pass more for a request than the one under way when it is cancelled', async () => {
    const backend = new CountingBackend();
    const cancelling = new AbortController();
    let passes = 0;
    backend.onPass = () => {
      if (++passes === 5) cancelling.abort();
    };
    const request = start(backend)([10], { ignore_eos: true }, cancelling.signal);
    await expect(request.done).rejects.toMatchObject({ code: 'cancelled' });
    expect(passes).toBe(5);
    expect(backend.released).toBeGreaterThanOrEqual(1);
  });

  it('cancels a request that waits, and lets others wait for places and for memory', async () => {
    const backend = new CountingBackend(8, 0, 50);
    const run = start(backend, 1);
    const order: string[] = [];
    const note = (name: string, done: Promise<void>) => done.then(() => order.push(name));
    const cancelling = new AbortController();
    const first = note('first', run([10], { max_tokens: 8 }).done);
    const cancelled = run([10], {}, cancelling.signal).done;
    const second = note('second', run([11], { max_tokens: 1 }).done);
    cancelling.abort();
    await expect(cancelled).rejects.toMatchObject({ code: 'cancelled' });
    await Promise.all([first, second]);
    expect(order).toEqual(['first', 'second']);
  });

  it('keeps a slot for another client, and lets clients take turns', async () => {
    let now = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => now++);
    onTestFinished(() => void vi.restoreAllMocks());
    const run = start(new CountingBackend(), 1);
    const order: string[] = [];
    const ask = (name: string, client: string, max_tokens: number) =>
      run([10], { max_tokens, ignore_eos: true }, undefined, client).done.then(() => order.push(name));
    const ofBob = ['b1', 'b2', 'b3'].map((name) => ask(name, 'bob', 30));
    await Promise.all([...ofBob, ask('a1', 'alice', 2), ask('a2', 'alice', 2)]);
    expect(order).toEqual(['a1', 'a2', 'b1', 'b2', 'b3']);
  });

  it('keeps the passes narrow while another client with few answers has some', async () => {
    let now = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => now++);
    onTestFinished(() => void vi.restoreAllMocks());
    const backend = new CountingBackend(16);
    const run = start(backend, 16);
    const parameters = { max_tokens: 30, ignore_eos: true };
    const ofBob = run([10], { ...parameters, n: 16 }, undefined, 'bob');
    const ofAlice = run([22], { ...parameters, max_tokens: 10 }, undefined, 'alice');
    let shared = 0;
    await ofAlice.done.then(() => (shared = backend.diary.length));
    await ofBob.done;
    const widths = backend.diary
      .slice(0, shared)
      .filter((pass) => pass.startsWith('answers'))
      .map((pass) => pass.split(' ').length - 1);
    expect(widths.filter((width) => width > 5).length).toBeLessThanOrEqual(2);
    expect(backend.diary.some((pass) => pass.split(' ').length === 17)).toBe(true);
    expect(ofBob.tokens()).toHaveLength(16 * 30);
    expect(ofAlice.tokens().slice(0, 3)).toEqual([23, 24, 25]);
  });

  it('reads the short prompt of one client between the long prompts of another', async () => {
    const backend = new CountingBackend();
    const run = start(backend, 8);
    const long = Array.from({ length: 40 }, (_unused, index) => (index % 9) + 1);
    const ofBob = Array.from({ length: 6 }, () => run(long, { max_tokens: 1 }, undefined, 'bob').done);
    await Promise.all([...ofBob, run([17], { max_tokens: 1 }, undefined, 'alice').done]);
    expect(backend.diary.indexOf('prompt 17')).toBeLessThan(3);
  });

  it('writes the same tokens with guesses, in fewer passes', async () => {
    const prompt = Array.from({ length: 19 }, (_unused, index) => index + 11);
    const parameters = { max_tokens: 15, ignore_eos: true };
    const plain = new CountingBackend();
    const guessing = new CountingBackend();
    const expected = start(plain)(prompt, parameters);
    const guessed = start(guessing)(prompt, { ...parameters, num_assistant_tokens: 7 });
    await Promise.all([expected.done, guessed.done]);
    expect(guessed.tokens()).toEqual(expected.tokens());
    expect(guessed.events.at(-1)!.usage).toEqual(expected.events.at(-1)!.usage);
    expect(guessing.diary.length).toBeLessThan(plain.diary.length / 2);
  });

  it.each([
    { rowMilliseconds: 0, isFaster: 'checks', lengths: 'long' },
    { rowMilliseconds: 3, isFaster: 'stops checking', lengths: 'short' },
  ])(
    '$isFaster guesses where a token more takes $rowMilliseconds ms',
    async ({ rowMilliseconds, lengths }) => {
      let now = 0;
      vi.spyOn(performance, 'now').mockImplementation(() => now);
      onTestFinished(() => void vi.restoreAllMocks());
      const backend = new CountingBackend();
      backend.onPass = (tokens) => (now += 1 + rowMilliseconds * (tokens - 1));
      const prompt = Array.from({ length: 19 }, (_unused, index) => index + 11);
      // An answer that must repeat checks its guesses whatever they cost.
      const parameters = { max_tokens: 80, ignore_eos: true, num_assistant_tokens: 7, temperature: 0.01 };
      const request = start(backend)(prompt, parameters);
      await request.done;
      const widths = backend.diary.slice(-6, -1).map((pass) => pass.split(',').length);
      expect(widths.every((width) => (lengths === 'long' ? width > 4 : width === 1))).toBe(true);
      expect(request.tokens().slice(0, 3)).toEqual([10, 11, 12]);

      for (const repeatable of [{ seed: 7 }, { temperature: 0 }]) {
        const steady = start(backend)(prompt, { ...parameters, ...repeatable });
        await steady.done;
        expect(backend.diary.slice(-6, -1).every((pass) => pass.includes(','))).toBe(true);
        expect(steady.tokens()).toEqual(request.tokens());
      }
    },
  );

  it('ends only the requests that took part in a pass that fails', async () => {
    const backend = new CountingBackend(1);
    const run = start(backend);
    let failing = true;
    backend.onPass = () => {
      if (failing) {
        failing = false;
        throw new Error('out of memory');
      }
    };
    const first = run([10], { max_tokens: 3 });
    const second = run([10], { max_tokens: 3 });
    await expect(first.done).rejects.toThrow('out of memory');
    await second.done;
    expect(second.tokens()).toEqual([11, 12, 13]);
  });
});

it('gives answers as much time as a piece of a prompt took', () => {
  const pacer = new PrefillPacer();
  expect(pacer.allowsPrefill).toBe(true);
  pacer.notePrefill(50);
  pacer.noteDecode(30);
  expect(pacer.allowsPrefill).toBe(false);
  pacer.noteDecode(30);
  expect(pacer.allowsPrefill).toBe(true);
});
