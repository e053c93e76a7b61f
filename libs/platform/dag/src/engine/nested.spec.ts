import { describe, expect, it } from 'vitest';
import { MegaNestError } from '#platform/contracts';
import { parseMegaService } from '../definition/parse.js';
import { define, hang, readAll, registry, runWith, statesOf } from '../dag.fixture.js';
import { listParameters } from '../definition/parameters.js';
import type { MegaServiceDefinition } from '../definition/types.js';
import type { RunEvent } from './types.js';

function outer(inner: MegaServiceDefinition, ...nodes: string[]): MegaServiceDefinition {
  const yaml = [
    'name: outer',
    'description: Contains another.',
    'nodes:',
    ...nodes.map((node) => `  ${node}`),
  ];
  const megaService = (name: string) => (name === 'inner' ? inner : undefined);
  return parseMegaService(yaml.join('\n'), 'outer.yaml', { registry, megaService });
}

const search = define(
  'embedding: { service: embedding }',
  'retrieval: { service: retrieval, after: [embedding], params: { k: 7 } }',
);
const chat = define('llm: { service: llm, stream: true }');

async function* say(...texts: string[]) {
  for (const text of texts) yield { text };
}

describe('a nested mega service', () => {
  it('gives its output to the nodes below it, and its receipt is part of the outer one', async () => {
    const definition = outer(search, 'search: { service: inner }', 'llm: { service: llm, after: [search] }');
    const run = runWith(
      definition,
      { retrieval: () => ['d'], llm: ({ inputs }) => inputs.documents },
      { request: { q: 1 } },
    );
    expect(await run.result).toEqual(['d']);
    expect(run.calls.map(({ megaService, node, request }) => [megaService, node, request])).toEqual([
      ['test', 'embedding', { q: 1 }],
      ['test', 'retrieval', { q: 1 }],
      ['outer', 'llm', { q: 1 }],
    ]);
    expect((await run.settled).nodes[0]?.nested).toMatchObject({
      megaService: 'test',
      state: 'ok',
      nodes: [{}, {}],
    });
  });

  // A guard redacts so: what it gives is the conversation that all nodes after it have to read.
  it('takes what a node before it gives for a port that its own nodes leave open', async () => {
    const open = define(
      'reranking: { service: reranking, inputs: { documents: retrieval } }',
      'retrieval: { service: retrieval }',
      'llm: { service: llm, after: [reranking] }',
    );
    const definition = outer(
      open,
      'embedding: { service: embedding }',
      'inner: { service: inner, after: [embedding] }',
    );
    const run = runWith(
      definition,
      { embedding: () => [1, 2], retrieval: () => ['d'], reranking: () => ['e'] },
      {},
    );
    await run.result;
    const inputs = Object.fromEntries(run.calls.map((call) => [call.node, call.inputs]));
    expect(inputs).toEqual({
      embedding: {},
      retrieval: { embedding: [1, 2] },
      reranking: { documents: ['d'] },
      llm: { documents: ['e'] },
    });
  });

  it('is refused after a guard that does not see one of its texts', () => {
    const guarded = ['judge: { service: judge }', 'chat: { service: inner, after: [judge], stream: true }'];
    expect(() => outer(chat, ...guarded)).toThrow(/"chat": locked: .* suffix/);
    const locked = define('llm: { service: llm, stream: true, locked: [suffix] }');
    expect(outer(locked, ...guarded).output).toBe('chat');
  });

  it('takes parameters from the request, then the outer YAML, then its own', async () => {
    const named = outer(search, 'search: { service: inner, params: { k: 5 } }');
    const plain = outer(search, 'search: { service: inner }');
    const kOf = async (definition: MegaServiceDefinition, parameters: object) => {
      const run = runWith(definition, {}, { parameters: { ...parameters } });
      await run.result;
      return run.calls.find(({ node }) => node === 'retrieval')?.parameters.k;
    };
    expect(await kOf(named, { k: 0 })).toBe(0);
    expect(await kOf(named, {})).toBe(5);
    expect(await kOf(plain, {})).toBe(7);
    expect(listParameters(named).find(({ name }) => name === 'k')).toMatchObject({
      node: 'search',
      default: 5,
    });
    expect(listParameters(plain).find(({ name }) => name === 'k')).toMatchObject({ default: 7 });
    const refused = runWith(plain, {}, { parameters: { k: 'many' } });
    await expect(refused.result).rejects.toMatchObject({ code: 'invalid_request', param: 'k' });
    expect(refused.calls).toEqual([]);
  });

  it('streams through, and stops when the consumer leaves', async () => {
    const definition = outer(chat, 'chat: { service: inner, stream: true }');
    expect(await readAll(runWith(definition, { llm: () => say('a', 'b') }).stream)).toHaveLength(2);
    const left = runWith(definition, {
      llm: async function* speak(context) {
        yield { text: 'a' };
        await hang(context);
      },
    });
    for await (const chunk of left.stream) if (chunk) break;
    await left.settled;
    expect(left.calls[0]?.signal.aborted).toBe(true);
    expect(left.receipt().nodes[0]?.nested).toMatchObject({ state: 'cancelled' });
  });

  it('fails with the error of its node', async () => {
    const definition = outer(search, 'search: { service: inner }', 'llm: { service: llm, after: [search] }');
    const error = new MegaNestError('overloaded', {
      service: 'retrieval',
      detail: 'a full queue',
      retryAfter: 1,
    });
    const run = runWith(definition, { retrieval: () => Promise.reject(error) });
    await expect(run.result).rejects.toBe(error);
    expect(statesOf(run)).toEqual({ search: 'failed', llm: 'cancelled' });
  });

  it('stands by as a fallback', async () => {
    const definition = outer(chat, 'llm: { service: llm, fallback: { service: inner } }');
    const run = runWith(definition, {
      llm: ({ megaService }) => (megaService === 'outer' ? Promise.reject(new Error('down')) : say('inner')),
    });
    expect(await run.result).toEqual([{ text: 'inner' }]);
    expect(run.receipt().nodes[0]).toMatchObject({ from: 'fallback', nested: { state: 'ok' } });
  });

  it('ends the outer one with its short-circuit', async () => {
    const guard = define('guard: { service: guard }', 'retrieval: { service: retrieval, after: [guard] }');
    const definition = outer(guard, 'search: { service: inner }', 'llm: { service: llm, after: [search] }');
    const run = runWith(definition, { guard: () => ({ cut: true, answer: 'No.' }) });
    expect(await run.result).toBe('No.');
    expect(statesOf(run)).toEqual({ search: 'ok', llm: 'skipped' });
  });

  it('tells its events under the name of its node', async () => {
    const events: RunEvent[] = [];
    const definition = outer(search, 'search: { service: inner }');
    await runWith(definition, {}, { onEvent: (event) => events.push(event) }).result;
    expect(events.map(({ type, node }) => `${type} ${node}`)).toEqual([
      'attempt-started search',
      'attempt-started search/embedding',
      'node-settled search/embedding',
      'attempt-started search/retrieval',
      'node-settled search/retrieval',
      'node-settled search',
    ]);
  });
});
