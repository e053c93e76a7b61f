import { MegaNestError, type GenerationChunk } from '#platform/contracts';
import { describe, expect, it, test } from 'vitest';
import { measureGeneration, Metrics } from './metrics.js';

describe('Metrics', () => {
  it('counts what ended well and leaves nothing pending', async () => {
    const metrics = new Metrics('test');
    await metrics.measure('work', async () => 'done');
    await metrics.measure('work', async () => 'done');
    const { work } = await metrics.statistics();
    expect(work).toMatchObject({ count: 2 });
    expect(work?.p50_latency).toBeGreaterThanOrEqual(0);
    expect(work?.average_latency).toBeLessThanOrEqual(work?.p99_latency ?? 0);
    expect(await metrics.registry.metrics()).toContain(
      'meganest_operations_pending{operation="work",service="test"} 0',
    );
  });

  it('does not count a failure among the latencies, and ends it once', async () => {
    const metrics = new Metrics('test');
    const failing = metrics.measure('work', () => Promise.reject(new Error('no')));
    await expect(failing).rejects.toThrow('no');
    expect(await metrics.statistics()).toEqual({});
    expect(await metrics.registry.metrics()).toContain('pending{operation="work",service="test"} 0');
  });

  it('has everything in its books that happened before it is read', async () => {
    const metrics = new Metrics('test');
    for (let count = 0; count < 250; count++) {
      metrics.start('work').end('ok');
      metrics.countTokens('prompt', 2);
    }
    for (const nonsense of [-1, Number.NaN, Infinity]) metrics.countTokens('prompt', nonsense);
    expect(await metrics.registry.metrics()).toContain('tokens_total{kind="prompt",service="test"} 500');
    expect(await metrics.statistics()).toMatchObject({ work: { count: 250 } });
  });

  it('counts the statements of answers with and without a citation', async () => {
    const metrics = new Metrics('test');
    metrics.countSupport({ statements: 3, cited: 2, unknown: [9] });
    const shown = await metrics.registry.metrics();
    expect(shown).toContain('meganest_statements_total{cited="true",service="test"} 2');
    expect(shown).toContain('meganest_statements_total{cited="false",service="test"} 1');
    expect(shown).toContain('meganest_unknown_citations_total{service="test"} 1');
  });

  it('counts the answers that were made without a step, by step and reason', async () => {
    const metrics = new Metrics('test');
    metrics.countDegraded('chatqna', 'reranking', 'deadline_exceeded');
    metrics.countDegraded('chatqna', 'reranking', 'deadline_exceeded');
    expect(await metrics.registry.metrics()).toContain(
      'degraded_total{operation="chatqna",step="reranking",reason="deadline_exceeded",service="test"} 2',
    );
  });

  it('knows the first token of a stream', async () => {
    const metrics = new Metrics('test');
    const running = metrics.start('generate');
    running.firstToken();
    running.end('ok');
    running.end('error');
    const { generate } = await metrics.statistics();
    expect(generate?.p50_latency_first_token).toBeGreaterThanOrEqual(0);
    expect(generate?.count).toBe(1);
  });

  it('says how long work held up the event loop', async () => {
    const metrics = new Metrics('test');
    const running = metrics.start('generate');
    const end = performance.now() + 80;
    while (performance.now() < end);
    await new Promise((resolve) => setTimeout(resolve, 20));
    running.end('ok');
    const text = await metrics.registry.metrics();
    for (const value of ['p50', 'p90', 'p99', 'max'])
      expect(text).toContain(`nodejs_eventloop_lag_${value}_seconds{`);
    const [, max] = /^nodejs_eventloop_lag_max_seconds\{.*\} (\S+)$/m.exec(text)!;
    expect(Number(max)).toBeGreaterThan(0.08);
  });

  it('reads watched numbers when asked, and keeps the last ones where it cannot', async () => {
    const metrics = new Metrics('test');
    const readings = [{ waiting: 3, running: 1 }];
    metrics.watch({ name: 'slots', help: 'Slots', label: 'state' }, async () => {
      const reading = readings.shift();
      if (!reading) throw new Error('away');
      return reading;
    });
    for (let attempt = 0; attempt < 2; attempt++) {
      const text = await metrics.registry.metrics();
      expect(text).toContain('slots{state="waiting",service="test"} 3');
      expect(text).toContain('slots{state="running",service="test"} 1');
    }
  });
});

type Chunk = Partial<GenerationChunk>;

/** Records what is entered, in order. */
function recorder() {
  const entries: string[] = [];
  const metrics = {
    start: (operation: string) => ({
      firstToken: () => void entries.push(`${operation} first token`),
      end: (outcome: string) => void entries.push(`${operation} ${outcome}`),
    }),
    countTokens: (kind: string, count: number) => void entries.push(`${count} ${kind}`),
  };
  return { entries, metrics };
}

async function* chunksOf(chunks: Chunk[], error?: Error): AsyncGenerator<GenerationChunk> {
  for (const chunk of chunks) yield { text: '', ...chunk } as GenerationChunk;
  if (error) throw error;
}

const usage = { promptTokens: 3, completionTokens: 2, cachedTokens: 0 };

test('a tool call alone is a first token; usage is counted where it is asked for', async () => {
  const { entries, metrics } = recorder();
  const chunks = chunksOf([{}, { toolCalls: [] }, { text: 'late' }, { usage }]);
  for await (const chunk of measureGeneration(metrics, 'llm', chunks, { countUsage: true }))
    entries.push(`chunk "${chunk.text}"`);
  expect(entries).toEqual([
    'chunk ""',
    'llm first token',
    'chunk ""',
    'chunk "late"',
    '3 prompt',
    '2 completion',
    'chunk ""',
    'llm ok',
  ]);
});

test.each([
  ['error', new Error('broken')],
  ['cancelled', new MegaNestError('cancelled')],
])('ends with the outcome %s', async (outcome, error) => {
  const { entries, metrics } = recorder();
  const read = measureGeneration(metrics, 'llm', chunksOf([{ usage }], error));
  await read.next();
  await expect(read.next()).rejects.toBe(error);
  expect(entries).toEqual([`llm ${outcome}`]);
});

test('a consumer that leaves has cancelled it', async () => {
  const { entries, metrics } = recorder();
  const read = measureGeneration(metrics, 'llm', chunksOf([{ text: 'a' }, { text: 'b' }]));
  await read.next();
  await read.return();
  expect(entries).toEqual(['llm first token', 'llm cancelled']);
});
