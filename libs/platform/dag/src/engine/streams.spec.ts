import { describe, expect, it } from 'vitest';
import { MegaNestError } from '#platform/contracts';
import { define, hang, readAll, runWith, statesOf } from '../dag.fixture.js';
import { Deferred } from './abort-scope.js';
import type { NodeContext } from './types.js';
import type { TextChunk } from './sentences.js';

async function* say(...texts: string[]) {
  for (const text of texts) yield { text };
}

const sentences = ({ inputs }: NodeContext) => inputs.sentences as AsyncIterable<TextChunk>;

async function* shout(context: NodeContext) {
  for await (const { text } of sentences(context)) yield { text: text.toUpperCase() };
}

describe('the stream of the output node', () => {
  const llm = define('llm: { service: llm, stream: true }');

  it('arrives chunk by chunk', async () => {
    const gate = new Deferred<void>();
    async function* speak() {
      yield { text: 'a' };
      await gate.promise;
      yield { text: 'b' };
    }
    const run = runWith(llm, { llm: speak });
    const reader = run.stream[Symbol.asyncIterator]();
    expect(await reader.next()).toEqual({ done: false, value: { text: 'a' } });
    expect(run.receipt()).toMatchObject({ state: 'running', nodes: [{ state: 'running' }] });
    gate.resolve();
    expect(await reader.next()).toEqual({ done: false, value: { text: 'b' } });
    expect(await reader.next()).toEqual({ done: true, value: undefined });
    expect(await run.result).toEqual([{ text: 'a' }, { text: 'b' }]);
  });

  it('is one output where the node gives one', async () => {
    const run = runWith(llm, { llm: () => ({ text: 'all' }) });
    expect(await readAll(run.stream)).toEqual([{ text: 'all' }]);
    expect(await run.result).toEqual({ text: 'all' });
  });

  it('may be empty', async () => {
    const run = runWith(llm, { llm: () => say() });
    expect(await readAll(run.stream)).toEqual([]);
    expect(await run.result).toEqual([]);
  });

  it('can be read after the end, since nothing is lost', async () => {
    const run = runWith(llm, { llm: () => say('a', 'b') });
    await run.result;
    expect(await readAll(run.stream)).toHaveLength(2);
    expect(await readAll(run.stream)).toHaveLength(2);
  });

  it('is not tried again once a chunk is out', async () => {
    const retried = define(
      'llm: { service: llm, stream: true, retry: { attempts: 3 }, fallback: { params: { model: B } } }',
    );
    async function* breakOff() {
      yield { text: 'a' };
      throw new MegaNestError('service_unavailable', { service: 'llm' });
    }
    const run = runWith(retried, { llm: breakOff });
    await expect(readAll(run.stream)).rejects.toMatchObject({ code: 'service_unavailable' });
    expect(run.calls).toHaveLength(1);
  });

  it('left early closes the generator and aborts the signal', async () => {
    const closed = new Deferred<void>();
    async function* speak(context: NodeContext) {
      try {
        yield { text: 'a' };
        await hang(context);
      } finally {
        closed.resolve();
      }
    }
    const run = runWith(llm, { llm: speak });
    for await (const chunk of run.stream) if (chunk) break;
    await closed.promise;
    expect(run.calls[0]?.signal.aborted).toBe(true);
    expect(await run.settled).toMatchObject({ state: 'cancelled', nodes: [{ state: 'cancelled' }] });
  });

  it('left while waiting for the next chunk ends at once', async () => {
    const run = runWith(llm, { llm: hang });
    const reader = run.stream[Symbol.asyncIterator]();
    const next = reader.next();
    await reader.return?.();
    expect(await next).toEqual({ done: true, value: undefined });
    await expect(run.result).rejects.toMatchObject({ code: 'cancelled' });
  });

  it('of a node that need not stream is collected', async () => {
    const run = runWith(define('llm: { service: llm }'), { llm: () => say('a', 'b') });
    expect(await readAll(run.stream)).toEqual([[{ text: 'a' }, { text: 'b' }]]);
  });
});

describe('a stream into a following node', () => {
  const guarded = define(
    'llm: { service: llm, stream: true }',
    'guard: { service: sentence-guard, after: [llm], stream: true }',
  );

  it('passes sentence by sentence while the first node still speaks', async () => {
    const gate = new Deferred<void>();
    async function* speak() {
      yield* say('One sen', 'tence. And', ' more');
      await gate.promise;
      yield* say(' of it.');
    }
    const run = runWith(guarded, { llm: speak, guard: shout });
    const reader = run.stream[Symbol.asyncIterator]();
    expect(await reader.next()).toEqual({ done: false, value: { text: 'ONE SENTENCE. ' } });
    expect(statesOf(run)).toEqual({ llm: 'running', guard: 'running' });
    gate.resolve();
    expect(await reader.next()).toEqual({ done: false, value: { text: 'AND MORE OF IT.' } });
    expect(await reader.next()).toMatchObject({ done: true });
    expect(statesOf(run)).toEqual({ llm: 'ok', guard: 'ok' });
  });

  it('stops the first node when the second has read enough', async () => {
    const closed = new Deferred<void>();
    async function* speak(context: NodeContext) {
      try {
        yield* say('Bad word. Then', ' more. ');
        await hang(context);
      } finally {
        closed.resolve();
      }
    }
    async function* censor(context: NodeContext) {
      for await (const { text } of sentences(context)) {
        yield { text: text.includes('Bad') ? '[removed]' : text };
        if (text.includes('Bad')) return;
      }
    }
    const run = runWith(guarded, { llm: speak, guard: censor });
    expect(await readAll(run.stream)).toEqual([{ text: '[removed]' }]);
    await closed.promise;
    expect(await run.settled).toMatchObject({
      state: 'ok',
      nodes: [{ state: 'cancelled', why: '"guard" had read enough of its stream' }, { state: 'ok' }],
    });
  });

  it('fails both when the first node breaks off, and the second one reads no further', async () => {
    const closed = new Deferred<void>();
    async function* breakOff() {
      yield* say('One. Two');
      throw new MegaNestError('bad_upstream', { service: 'llm', detail: 'gone' });
    }
    async function* listen(context: NodeContext) {
      try {
        yield* shout(context);
      } finally {
        closed.resolve();
      }
    }
    const run = runWith(guarded, { llm: breakOff, guard: listen });
    await expect(readAll(run.stream)).rejects.toMatchObject({ code: 'bad_upstream' });
    await run.settled;
    await closed.promise;
    expect(statesOf(run)).toEqual({ llm: 'failed', guard: 'cancelled' });
  });

  it('fails both when the second node breaks off', async () => {
    const run = runWith(guarded, {
      llm: async function* speak(context) {
        yield* say('One. Two. ');
        await hang(context);
      },
      guard: async function* breakOff(context) {
        for await (const chunk of sentences(context)) if (chunk) throw new Error('boom');
        yield 0;
      },
    });
    await expect(run.result).rejects.toMatchObject({ code: 'internal_error' });
    await run.settled;
    expect(statesOf(run)).toEqual({ llm: 'cancelled', guard: 'failed' });
  });

  it('is read from the start again by a retry', async () => {
    const retried = define(
      'llm: { service: llm, stream: true }',
      'guard: { service: sentence-guard, after: [llm], retry: { attempts: 2, backoffMs: 0 } }',
    );
    const run = runWith(retried, {
      llm: () => say('One. ', 'Two. '),
      guard: async (context) => {
        const heard = await readAll(sentences(context));
        if (context.attempt === 1) throw new MegaNestError('overloaded', { service: 'guard' });
        return heard.length;
      },
    });
    expect(await run.result).toBe(2);
  });

  it('replaces an optional node that fails', async () => {
    const optional = define(
      'llm: { service: llm, stream: true }',
      'guard: { service: sentence-guard, after: [llm], stream: true, optional: true }',
    );
    const run = runWith(optional, {
      llm: () => say('One', '. Two.'),
      guard: () => Promise.reject(new MegaNestError('service_unavailable', { service: 'guard' })),
    });
    expect(await readAll(run.stream)).toEqual([{ text: 'One' }, { text: '. Two.' }]);
    expect(await run.result).toHaveLength(2);
    expect(await run.settled).toMatchObject({ state: 'ok', nodes: [{ state: 'ok' }, { state: 'skipped' }] });
  });

  it('goes on past a node whose condition is not met', async () => {
    const conditional = define(
      'llm: { service: llm, stream: true }',
      'guard: { service: sentence-guard, after: [llm], stream: true, when: "false" }',
    );
    const run = runWith(conditional, { llm: () => say('One', '. Two.') });
    expect(await readAll(run.stream)).toEqual([{ text: 'One' }, { text: '. Two.' }]);
    expect(await run.settled).toMatchObject({ state: 'ok', nodes: [{ state: 'ok' }, { state: 'skipped' }] });
  });

  it('takes a plain output as the only chunk', async () => {
    const run = runWith(guarded, { llm: () => ({ text: 'All at once.' }), guard: shout });
    expect(await readAll(run.stream)).toEqual([{ text: 'ALL AT ONCE.' }]);
  });
});
