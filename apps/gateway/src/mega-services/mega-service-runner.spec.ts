import { parseMegaService, type MegaServiceDefinition, type NodeContext } from '#dag';
import { MegaNestError, type GenerationChunk } from '#contracts';
import type { HttpCall } from '#service-kit';
import { beforeEach, describe, expect, it } from 'vitest';
import type { MegaServiceCatalog } from './mega-service-catalog.js';
import { MegaServiceRunner } from './mega-service-runner.js';
import { builtInNodes } from './nodes/built-in-nodes.js';
import type { NodeCaller } from './nodes/node-caller.js';
import { ReceiptStore } from './receipt-store.js';

const define = (name: string, more = '', parameter = 3) =>
  parseMegaService(
    `name: ${name}
description: A test.
${more}
nodes:
  embedding: { service: embedding }
  retrieval: { service: retrieval, after: [embedding], params: { k: ${parameter} } }`,
    `${name}.yaml`,
    { registry: builtInNodes },
  );

const stable = define('search');
const call = (requestId: string): HttpCall => ({
  requestId,
  deadline: Date.now() + 60_000,
  traceparent: '',
  signal: new AbortController().signal,
  owner: 'alice',
});
const ask = (content: string) => [{ role: 'user' as const, content }];

describe('a new version of a mega service', () => {
  let receipts: ReceiptStore;
  let called: string[];
  let fails: boolean;

  beforeEach(() => {
    receipts = new ReceiptStore({ maxCount: 1_000, maxBytes: 1e7, maxAgeMs: 60_000 });
    called = [];
    fails = false;
  });

  const runnerWith = (version: MegaServiceDefinition) => {
    const run = ({ megaService, service, parameters }: NodeContext) => {
      called.push(`${megaService}/${service}`);
      if (fails && megaService === 'next')
        return Promise.reject(new MegaNestError('internal_error', { service, detail: 'x' }));
      return Promise.resolve(
        service === 'embedding'
          ? [1]
          : Array.from({ length: Number(parameters['k']) }, (_unused, id) => ({ id })),
      );
    };
    const catalog = { canaryOf: (name: string) => (name === 'search' ? version : undefined) };
    const metrics = { countDegraded: () => undefined };
    return new MegaServiceRunner(
      { run } as NodeCaller,
      receipts,
      metrics as never,
      catalog as MegaServiceCatalog,
      { watch: (chunks) => chunks as AsyncGenerator<GenerationChunk> },
    );
  };
  const settle = async (runner: MegaServiceRunner, id: string, question: string) => {
    const handle = runner.start(stable, { messages: ask(question) }, {}, call(id));
    const result = await handle.result;
    await handle.settled;
    return result;
  };

  it('takes its percentage of the conversations, and each turn of one', async () => {
    const runner = runnerWith(define('next', 'canary: { of: search, percent: 20 }'));
    for (let index = 0; index < 400; index += 1) await settle(runner, `r${index}`, `question ${index}`);
    const [before, after] = receipts.versions('search');
    expect(before!.requests + after!.requests).toBe(400);
    const versions = Object.fromEntries([before!, after!].map((one) => [one.version, one.requests]));
    expect(versions['next']).toBeGreaterThan(40);
    expect(versions['next']).toBeLessThan(130);
    const versionOf = (id: string) => receipts.find('alice', id)?.receipt.megaService;
    const turn = [...ask('question 7'), { role: 'assistant' as const, content: 'x' }, ...ask('and then?')];
    await runner.start(stable, { messages: turn }, {}, call('later')).settled;
    expect(versionOf('later')).toBe(versionOf('r7'));
  });

  it('answers all requests at 100 percent, also with the parameters of the request that it knows', async () => {
    const runner = runnerWith(define('next', 'canary: { of: search, percent: 100 }', 5));
    expect(await settle(runner, 'a', 'x')).toHaveLength(5);
    const handle = runner.start(stable, { messages: ask('x') }, { k: 2 }, call('b'));
    expect(await handle.result).toHaveLength(2);
    expect(receipts.recent('alice', 'search', 5).map(({ receipt }) => receipt.megaService)).toEqual([
      'next',
      'next',
    ]);
  });

  it('runs beside the other one as a shadow, and the receipt says whether it answers the same', async () => {
    const runner = runnerWith(define('next', 'canary: { of: search, percent: 100, shadow: true }', 5));
    expect(await settle(runner, 'a', 'x')).toHaveLength(3);
    await expect.poll(() => receipts.find('alice', 'a')?.shadow?.same).toBe(false);
    expect(receipts.find('alice', 'a')).toMatchObject({
      receipt: { megaService: 'search', state: 'ok' },
      shadow: { receipt: { megaService: 'next', state: 'ok' } },
    });
    const alike = runnerWith(define('next', 'canary: { of: search, percent: 100, shadow: true }', 3));
    await settle(alike, 'b', 'x');
    await expect.poll(() => receipts.find('alice', 'b')?.shadow?.same).toBe(true);
    expect(receipts.versions('search')).toMatchObject([
      { version: 'search', shadow: false, requests: 2, failed: 0 },
      { version: 'next', shadow: true, requests: 2, failed: 0, same: 1 },
    ]);
  });

  it('harms no answer as a shadow that fails', async () => {
    fails = true;
    const runner = runnerWith(define('next', 'canary: { of: search, percent: 100, shadow: true }'));
    expect(await settle(runner, 'a', 'x')).toHaveLength(3);
    await expect.poll(() => receipts.versions('search')[1]?.failed).toBe(1);
    expect(called).toContain('next/embedding');
  });
});
