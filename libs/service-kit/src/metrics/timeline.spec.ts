import { describe, expect, it } from 'vitest';
import { stepSeconds, Timeline } from './timeline.js';

const step = stepSeconds * 1000;

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
