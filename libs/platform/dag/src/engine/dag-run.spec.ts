import { describe, expect, it } from 'vitest';
import { MegaNestError } from '#platform/contracts';
import { define, hang, readAll, runWith, statesOf } from '../dag.fixture.js';

const chatqna = define(
  'embedding: { service: embedding }',
  'retrieval: { service: retrieval, after: [embedding], params: { k: 8 } }',
  'reranking: { service: reranking, after: [retrieval], optional: true }',
  'llm: { service: llm, after: [reranking], stream: true }',
);

async function* say(...chunks: string[]) {
  for (const chunk of chunks) yield { text: chunk };
}

const unavailable = () => Promise.reject(new MegaNestError('service_unavailable', { service: 'reranking' }));

describe('runDag', () => {
  it('hands outputs down the ports and streams from the last node', async () => {
    const run = runWith(chatqna, { llm: () => say('Hello', ' you') });
    expect(await readAll(run.stream)).toEqual([{ text: 'Hello' }, { text: ' you' }]);
    expect(await run.result).toEqual([{ text: 'Hello' }, { text: ' you' }]);
    expect(run.calls.map(({ node, inputs }) => [node, inputs])).toEqual([
      ['embedding', {}],
      ['retrieval', { embedding: "embedding's output" }],
      ['reranking', { documents: "retrieval's output" }],
      ['llm', { documents: "reranking's output" }],
    ]);
    expect((await run.settled).state).toBe('ok');
  });

  it('skips an optional node that fails and lets its input stand in', async () => {
    const run = runWith(chatqna, {
      reranking: unavailable,
      llm: ({ inputs }) => say(String(inputs.documents)),
    });
    expect(await readAll(run.stream)).toEqual([{ text: "retrieval's output" }]);
    const { nodes } = await run.settled;
    expect(nodes[2]).toMatchObject({ node: 'reranking', state: 'skipped', attempts: 1 });
    expect(nodes[2]?.why).toContain('reranking service is not available');
  });

  it('fails with the error of a node and stops what runs beside it', async () => {
    const definition = define(
      'left: { service: step }',
      'right: { service: step }',
      'below: { service: step, after: [left, right] }',
    );
    const error = new MegaNestError('overloaded', { service: 'step', detail: 'a full queue' });
    const run = runWith(definition, { left: hang, right: () => Promise.reject(error) });
    await expect(run.result).rejects.toMatchObject({ code: 'overloaded' });
    await expect(readAll(run.stream)).rejects.toMatchObject({ code: 'overloaded' });
    expect((await run.settled).state).toBe('failed');
    expect(statesOf(run)).toEqual({ left: 'cancelled', right: 'failed', below: 'cancelled' });
    expect(run.calls[0]?.signal.aborted).toBe(true);
  });

  it('cancels the run when the consumer leaves the stream', async () => {
    const run = runWith(chatqna, { llm: () => say('a', 'b', 'c') });
    for await (const chunk of run.stream) if (chunk) break;
    await expect(run.result).rejects.toMatchObject({ code: 'cancelled' });
    expect((await run.settled).state).toBe('cancelled');
  });

  it("is stopped by the caller's signal; a reason that is an error of ours is kept", async () => {
    const plain = new AbortController();
    const run = runWith(chatqna, { llm: hang }, { signal: plain.signal });
    plain.abort();
    await expect(run.result).rejects.toMatchObject({ code: 'cancelled' });
    const telling = new AbortController();
    const reason = new MegaNestError('service_unavailable', { service: 'gateway', detail: 'it is stopping' });
    telling.abort(reason);
    const refused = runWith(chatqna, {}, { signal: telling.signal });
    await expect(refused.result).rejects.toBe(reason);
    expect(refused.calls).toEqual([]);
  });

  it('wraps what a runner throws, and names the node where its service does not tell which one it was', async () => {
    const alone = runWith(define('a: { service: step }'), {
      a: () => {
        throw new Error('boom');
      },
    });
    await expect(alone.result).rejects.toMatchObject({
      code: 'internal_error',
      message: 'The step service failed: boom',
    });
    const twice = runWith(define('a: { service: step }', 'b: { service: step, after: [a] }'), {
      b: () =>
        Promise.reject(
          new MegaNestError('service_unavailable', { service: 'step', detail: 'gone', retryAfter: 2 }),
        ),
    });
    await expect(twice.result).rejects.toMatchObject({
      code: 'service_unavailable',
      message: 'The step service is not available: gone (node "b")',
      retryAfter: 2,
    });
  });

  it('puts what runners report into the receipt', async () => {
    const run = runWith(define('a: { service: step }'), {
      a: ({ report }) => {
        report({ queuedMs: 12, model: 'm' });
        report({ tokens: 3 });
      },
    });
    await run.result;
    expect(run.receipt().nodes[0]).toMatchObject({ queuedMs: 12, details: { model: 'm', tokens: 3 } });
  });

  it('warns of nothing with a hundred nodes side by side', async () => {
    const warnings: Error[] = [];
    const note = (warning: Error) => warnings.push(warning);
    process.on('warning', note);
    const branches = Array.from({ length: 100 }, (_unused, index) => `n${index}: { service: step }`);
    const names = branches.map((_branch, index) => `n${index}`).join(', ');
    const run = runWith(define(...branches, `last: { service: step, after: [${names}] }`));
    await run.result;
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', note);
    expect(warnings).toEqual([]);
  });

  it('is not troubled by a listener that throws', async () => {
    const onEvent = () => {
      throw new Error('listener');
    };
    expect(await runWith(define('a: { service: step }'), {}, { onEvent }).result).toBe("a's output");
  });
});
