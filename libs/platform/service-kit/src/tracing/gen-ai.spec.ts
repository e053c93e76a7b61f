import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { MegaNestError, type GenerationChunk } from '#platform/contracts';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { measureGeneration } from '../metrics/metrics.js';
import { startTracing } from './start-tracing.js';

interface Attribute {
  key: string;
  value: { stringValue?: string; intValue?: number };
}
interface Point {
  count: number;
  sum: number;
  attributes: Attribute[];
}
interface Metric {
  name: string;
  unit: string;
  histogram: { dataPoints: Point[] };
}

let collector: Server;
let metrics: Metric[];
let spans: { name: string; attributes: Attribute[] }[];

beforeEach(async () => {
  [metrics, spans] = [[], []];
  const take = async (request: IncomingMessage, response: ServerResponse) => {
    const { resourceMetrics = [], resourceSpans = [] } = (await json(request)) as {
      resourceMetrics?: { scopeMetrics: { metrics: Metric[] }[] }[];
      resourceSpans?: { scopeSpans: { spans: typeof spans }[] }[];
    };
    for (const { scopeMetrics } of resourceMetrics)
      metrics.push(...scopeMetrics.flatMap((scope) => scope.metrics));
    for (const { scopeSpans } of resourceSpans) spans.push(...scopeSpans.flatMap((scope) => scope.spans));
    response.setHeader('content-type', 'application/json').end('{}');
  };
  collector = createServer((request, response) => void take(request, response)).listen(0, '127.0.0.1');
  await once(collector, 'listening');
});
afterEach(() => void collector.close());

const unmeasured = {
  start: () => ({ firstToken: () => undefined, end: () => undefined }),
  countTokens: () => undefined,
};

async function* answer(error?: Error): AsyncGenerator<GenerationChunk> {
  for (const text of ['a', 'b', 'c']) yield { text } as GenerationChunk;
  if (error) throw error;
  yield { text: '', usage: { promptTokens: 7, completionTokens: 3, cachedTokens: 0 } } as GenerationChunk;
}

async function measureBoth(error?: Error): Promise<void> {
  for (const side of ['client', 'server'] as const) {
    const measured = measureGeneration(unmeasured, 'chat', answer(error), { genAi: { side, model: 'tiny' } });
    try {
      for await (const chunk of measured) expect(chunk).toBeDefined();
    } catch {
      // What failed is measured too.
    }
  }
}

const url = () => `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
const textsOf = (attributes: Attribute[]) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue]));

it('sends the metrics of generations in the names of the conventions', async () => {
  const stop = startTracing({ service: 'test' }, url(), { metricsEveryMs: 60_000 });
  await measureBoth();
  await stop();
  const byName = new Map(metrics.map((metric) => [metric.name, metric]));
  expect([...byName.keys()].toSorted()).toEqual([
    'gen_ai.client.operation.duration',
    'gen_ai.client.token.usage',
    'gen_ai.server.request.duration',
    'gen_ai.server.time_per_output_token',
    'gen_ai.server.time_to_first_token',
  ]);
  const usage = byName.get('gen_ai.client.token.usage')!;
  expect(usage.unit).toBe('{token}');
  const tokens = usage.histogram.dataPoints.map(({ sum, attributes }) => [
    textsOf(attributes)['gen_ai.token.type'],
    sum,
  ]);
  expect(tokens).toEqual([
    ['input', 7],
    ['output', 3],
  ]);
  const [duration] = byName.get('gen_ai.client.operation.duration')!.histogram.dataPoints;
  expect(textsOf(duration!.attributes)).toEqual({
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'meganest',
    'gen_ai.request.model': 'tiny',
  });
  const span = spans.find(({ name }) => name === 'chat tiny');
  expect(textsOf(span!.attributes)).toMatchObject({
    'gen_ai.usage.input_tokens': 7,
    'gen_ai.usage.output_tokens': 3,
  });
});

it('says what a failed generation failed of', async () => {
  const stop = startTracing({ service: 'test' }, url(), { metricsEveryMs: 60_000 });
  await measureBoth(new MegaNestError('overloaded', { service: 'llm', detail: 'full' }));
  await stop();
  const [point] = metrics.find(({ name }) => name === 'gen_ai.server.request.duration')!.histogram.dataPoints;
  expect(textsOf(point!.attributes)['error.type']).toBe('overloaded');
});

it('sends no metrics unless they are wanted', async () => {
  const stop = startTracing({ service: 'test' }, url());
  await measureBoth();
  await stop();
  expect(metrics).toEqual([]);
  expect(spans.map(({ name }) => name)).toEqual(['chat tiny']);
});
