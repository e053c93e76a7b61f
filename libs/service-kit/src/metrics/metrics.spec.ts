import { describe, expect, it } from 'vitest';
import { Metrics } from './metrics.js';

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

  it('says how long the event loop was held up', async () => {
    const text = await new Metrics('test').registry.metrics();
    for (const value of ['p50', 'p99', 'max'])
      expect(text).toContain(`nodejs_eventloop_lag_${value}_seconds{`);
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
