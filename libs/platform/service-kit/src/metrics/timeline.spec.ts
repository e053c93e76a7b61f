import { describe, expect, it } from 'vitest';
import { sumDigests } from './metrics.js';
import { stepSeconds, Timeline } from './timeline.js';

const step = stepSeconds * 1000;

describe('digests', () => {
  it('of two instances give the quantiles of all their latencies', () => {
    const [slow, fast] = [new Timeline(), new Timeline()];
    // 100 of 0.01 to 1 s here, 300 of 0.001 s there.
    for (let index = 1; index <= 100; index += 1) slow.end('chat', 'ok', index / 100, step);
    for (let index = 0; index < 300; index += 1) fast.end('chat', 'ok', 0.001, step);
    slow.firstToken('chat', 0.5, step);
    const { chat } = sumDigests([slow.digests(step), fast.digests(step), {}]);
    expect(chat).toMatchObject({
      p50_latency: 0.001,
      count: 400,
      instances: 2,
      p50_latency_first_token: 0.5,
    });
    expect(chat?.p99_latency).toBeCloseTo(0.96, 1);
    expect(chat?.average_latency).toBeCloseTo((50.5 + 0.3) / 400, 5);
  });

  it('weigh a sample by the number of those that it stands for', () => {
    const timeline = new Timeline();
    for (let index = 0; index < 5_000; index += 1) timeline.end('chat', 'ok', 1, step);
    timeline.end('chat', 'ok', 3, 2 * step);
    expect(sumDigests([timeline.digests(2 * step)])['chat']).toMatchObject({ count: 5_001, p99_latency: 1 });
  });

  it('of a time without operations are empty', () => {
    expect(sumDigests([new Timeline().digests()])).toEqual({});
  });
});

describe('Timeline', () => {
  it('counts what ends in a step, with the latencies of what went well', () => {
    const timeline = new Timeline();
    for (const seconds of [1, 2, 3]) timeline.end('chat', 'ok', seconds, step + 1);
    timeline.end('chat', 'error', 60, step + 2);
    timeline.end('chat', 'cancelled', 60, step + 3);
    timeline.firstToken('chat', 0.5, step + 4);
    timeline.end('embed', 'ok', 7, 2 * step);
    expect(timeline.points(2 * step)).toEqual({
      chat: [{ at: step, count: 5, errors: 1, p50_latency: 2, p99_latency: 3, p50_latency_first_token: 0.5 }],
      embed: [
        { at: 2 * step, count: 1, errors: 0, p50_latency: 7, p99_latency: 7, p50_latency_first_token: null },
      ],
    });
  });

  it('forgets what is older than ten minutes', () => {
    const timeline = new Timeline();
    for (let at = 0; at < 100; at += 1) timeline.end('chat', 'ok', 1, at * step);
    expect(timeline.points(99 * step)['chat']).toHaveLength(60);
    expect(timeline.points(200 * step)).toEqual({});
  });
});
