import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { MegaNestError, type ErrorCode } from '#platform/contracts';
import { after, define, hang, runWith } from '../dag.fixture.js';
import type { NodeContext } from './types.js';

const start = Date.parse('2026-11-20T12:00:00Z');

beforeEach(() => {
  vi.useFakeTimers({ now: start });
  vi.spyOn(Math, 'random').mockReturnValue(1);
});

afterEach(() => {
  if (vi.getTimerCount() > 0) throw new Error('a timer was left behind');
  vi.useRealTimers();
});

const refuse = (code: ErrorCode, retryAfter?: number) =>
  Promise.reject(new MegaNestError(code, { service: 'step', detail: 'so it is', retryAfter }));

/** Fails so many times, then succeeds; notes when it was called. */
function failing(times: number, code: ErrorCode, retryAfter?: number) {
  const calledAt: number[] = [];
  const behave = () => {
    calledAt.push(Date.now() - start);
    return calledAt.length <= times ? refuse(code, retryAfter) : 'done';
  };
  return { behave, calledAt };
}

describe('parallel branches', () => {
  it('take as long as the slowest one', async () => {
    const diamond = define(
      'top: { service: step }',
      'left: { service: step, after: [top] }',
      'right: { service: step, after: [top] }',
      'bottom: { service: step, after: [left, right] }',
    );
    const run = runWith(diamond, { left: after(300, 'l'), right: after(500, 'r'), bottom: after(50, 'b') });
    await vi.advanceTimersByTimeAsync(550);
    expect(await run.result).toBe('b');
    const { nodes, runMs } = await run.settled;
    expect(runMs).toBe(550);
    expect(nodes.map(({ startedAt = 0, runMs }) => [startedAt - start, runMs])).toEqual([
      [0, 0],
      [0, 300],
      [0, 500],
      [500, 50],
    ]);
  });
});

describe('retry', () => {
  const retried = define('a: { service: step, retry: { attempts: 4, backoffMs: 100 } }');

  it('waits twice as long before each further attempt', async () => {
    const { behave, calledAt } = failing(3, 'service_unavailable');
    const run = runWith(retried, { a: behave });
    await vi.runAllTimersAsync();
    expect(await run.result).toBe('done');
    expect(calledAt).toEqual([0, 100, 300, 700]);
    expect(run.receipt().nodes[0]).toMatchObject({ state: 'ok', attempts: 4, runMs: 700 });
    expect(run.calls.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4]);
  });

  it('gives up with the last error', async () => {
    const run = runWith(retried, { a: () => refuse('bad_upstream') });
    await vi.runAllTimersAsync();
    await expect(run.result).rejects.toMatchObject({ code: 'bad_upstream' });
    expect(run.calls).toHaveLength(4);
  });

  it('does not repeat an error that is final', async () => {
    const failing = () => Promise.reject(new MegaNestError('bad_upstream', { service: 'a', final: true }));
    const run = runWith(retried, { a: failing });
    await vi.runAllTimersAsync();
    await expect(run.result).rejects.toMatchObject({ code: 'bad_upstream' });
    expect(run.calls).toHaveLength(1);
  });

  it.each<ErrorCode>(['invalid_request', 'context_length_exceeded', 'internal_error', 'cancelled'])(
    'does not repeat what failed with %s',
    async (code) => {
      const run = runWith(retried, { a: () => refuse(code) });
      await expect(run.result).rejects.toMatchObject({ code });
      expect(run.calls).toHaveLength(1);
    },
  );

  it('waits at least as long as the service asks for', async () => {
    const { behave, calledAt } = failing(1, 'overloaded', 2);
    const run = runWith(retried, { a: behave });
    await vi.runAllTimersAsync();
    expect(await run.result).toBe('done');
    expect(calledAt).toEqual([0, 2000]);
  });

  it('does not wait past the deadline', async () => {
    const run = runWith(retried, { a: () => refuse('overloaded', 2) }, { deadline: start + 1000 });
    await expect(run.result).rejects.toMatchObject({ code: 'overloaded', retryAfter: 2 });
    expect(Date.now()).toBe(start);
  });

  it('passes the error on when the service asks for a long wait', async () => {
    const run = runWith(retried, { a: () => refuse('overloaded', 60) });
    await expect(run.result).rejects.toMatchObject({ code: 'overloaded', retryAfter: 60 });
    expect(run.calls).toHaveLength(1);
  });

  it('ends its wait when the run is cancelled', async () => {
    const run = runWith(retried, { a: () => refuse('overloaded', 2) });
    await vi.advanceTimersByTimeAsync(500);
    run.cancel();
    await expect(run.result).rejects.toMatchObject({ code: 'cancelled' });
    expect((await run.settled).nodes[0]).toMatchObject({ state: 'cancelled', attempts: 1 });
  });
});

describe('timeout', () => {
  it('stops the attempt and fails with the name of the node', async () => {
    const run = runWith(define('a: { service: step, timeoutMs: 200 }'), { a: hang });
    await vi.advanceTimersByTimeAsync(200);
    await expect(run.result).rejects.toMatchObject({
      code: 'deadline_exceeded',
      message: 'The request ran out of time: node "a" took longer than 200 ms.',
    });
    expect(run.calls[0]).toMatchObject({ deadline: start + 200, signal: { aborted: true } });
  });

  it('gives each retry the whole time', async () => {
    const definition = define('a: { service: step, timeoutMs: 200, retry: { attempts: 2, backoffMs: 10 } }');
    const run = runWith(definition, { a: (context) => (context.attempt === 1 ? hang(context) : 'done') });
    await vi.runAllTimersAsync();
    expect(await run.result).toBe('done');
    expect(run.calls.map(({ deadline }) => deadline)).toEqual([start + 200, start + 410]);
  });

  it('counts a deadline_exceeded that the service reports itself as its own', async () => {
    const definition = define('a: { service: step, timeoutMs: 200, retry: { attempts: 2 } }');
    const { behave } = failing(1, 'deadline_exceeded');
    const run = runWith(definition, { a: behave });
    await vi.runAllTimersAsync();
    expect(await run.result).toBe('done');
  });

  it('skips an optional node', async () => {
    const definition = define(
      'retrieval: { service: retrieval }',
      'reranking: { service: reranking, after: [retrieval], optional: true, timeoutMs: 200 }',
    );
    const run = runWith(definition, { retrieval: () => ['d'], reranking: hang });
    await vi.advanceTimersByTimeAsync(200);
    expect(await run.result).toEqual(['d']);
    expect(run.receipt().nodes[1]).toMatchObject({
      state: 'skipped',
      why: 'The request ran out of time: node "reranking" took longer than 200 ms.',
      code: 'deadline_exceeded',
    });
  });

  it('bounds a stream until its first chunk and between two chunks, not as a whole', async () => {
    const definition = define('llm: { service: llm, stream: true, timeoutMs: 200 }');
    async function* tick(context: NodeContext) {
      for (const text of ['a', 'b', 'c']) {
        await after(150, undefined)(context);
        yield { text };
      }
      await hang(context);
    }
    const run = runWith(definition, { llm: tick }, { deadline: start + 10_000 });
    const chunks: unknown[] = [];
    const reading = (async () => {
      for await (const chunk of run.stream) chunks.push(chunk);
    })();
    const failure = reading.catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(650);
    expect(await failure).toMatchObject({ code: 'deadline_exceeded' });
    expect(chunks).toHaveLength(3);
    expect(run.calls[0]?.deadline).toBe(start + 10_000);
    expect(run.receipt().nodes[0]).toMatchObject({ state: 'failed', firstChunkMs: 150 });
  });
});

describe('deadline', () => {
  const pair = define('a: { service: step }', 'b: { service: step, after: [a] }');

  it('fails the run, names what it waited for, and stops that', async () => {
    const run = runWith(pair, { b: hang }, { deadline: start + 1000 });
    await vi.advanceTimersByTimeAsync(1000);
    await expect(run.result).rejects.toMatchObject({
      code: 'deadline_exceeded',
      message: 'The request ran out of time while waiting for "b".',
    });
    expect(run.calls.map(({ deadline }) => deadline)).toEqual([start + 1000, start + 1000]);
    expect(run.calls[1]?.signal.aborted).toBe(true);
    expect((await run.settled).nodes.map(({ state }) => state)).toEqual(['ok', 'cancelled']);
  });

  it('starts nothing when it is past', async () => {
    const run = runWith(pair, {}, { deadline: start - 1 });
    await expect(run.result).rejects.toMatchObject({ code: 'deadline_exceeded' });
    expect(run.calls).toEqual([]);
  });

  it('may lie further away than a timer reaches', async () => {
    const run = runWith(pair, { b: after(10, 'done') }, { deadline: start + 10 ** 12 });
    await vi.advanceTimersByTimeAsync(10);
    expect(await run.result).toBe('done');
  });

  it('makes an optional node be skipped when less than its timeout is left', async () => {
    const definition = define(
      'retrieval: { service: retrieval }',
      'reranking: { service: reranking, after: [retrieval], optional: true, timeoutMs: 2000 }',
    );
    const run = runWith(definition, { retrieval: after(500, ['d']) }, { deadline: start + 2400 });
    await vi.advanceTimersByTimeAsync(500);
    expect(await run.result).toEqual(['d']);
    expect(run.receipt().nodes[1]).toMatchObject({
      state: 'skipped',
      why: 'the deadline is near: 1900 ms left, 2000 ms needed',
      code: 'deadline_exceeded',
      attempts: 0,
    });
  });
});

describe('fallback', () => {
  const definition = define(
    'llm: { service: llm, params: { model: A }, stream: true, retry: { attempts: 2, backoffMs: 10 }, fallback: { params: { model: B } } }',
  );

  it('answers with its own parameters once all attempts have failed', async () => {
    async function* speak({ parameters }: NodeContext) {
      if (parameters.model === 'A') await refuse('service_unavailable');
      yield { text: String(parameters.model) };
    }
    const run = runWith(definition, { llm: speak });
    await vi.runAllTimersAsync();
    expect(await run.result).toEqual([{ text: 'B' }]);
    expect(run.receipt().nodes[0]).toMatchObject({ state: 'ok', from: 'fallback', attempts: 3 });
  });

  it('may be another service', async () => {
    const other = define(
      'retrieval: { service: retrieval }',
      'ranked: { service: reranking, after: [retrieval], fallback: { service: retrieval, params: { k: 1 } } }',
    );
    const run = runWith(other, {
      ranked: ({ service }) => (service === 'reranking' ? refuse('internal_error') : ['fallback']),
    });
    expect(await run.result).toEqual(['fallback']);
    expect(run.calls[2]).toMatchObject({ service: 'retrieval', parameters: { k: 1 }, inputs: {} });
  });

  it('fails with its own error when it fails too', async () => {
    const run = runWith(definition, {
      llm: ({ parameters }) => refuse(parameters.model === 'A' ? 'internal_error' : 'overloaded'),
    });
    await vi.runAllTimersAsync();
    await expect(run.result).rejects.toMatchObject({ code: 'overloaded' });
  });

  it('is not asked after a cancel', async () => {
    const run = runWith(definition, { llm: hang });
    run.cancel();
    await expect(run.result).rejects.toMatchObject({ code: 'cancelled' });
    await run.settled;
    expect(run.calls).toHaveLength(1);
  });
});
