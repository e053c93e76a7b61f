import { describe, expect, it } from 'vitest';
import { MegaNestError } from '#contracts';
import { define, hang, readAll, runWith, statesOf } from '../fixtures.js';

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
});
