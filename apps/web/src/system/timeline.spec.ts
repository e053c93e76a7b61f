import { describe, expect, it } from 'vitest';
import { latenciesOf, loadOf, operationsOf } from './timeline';

const point = { errors: 0, p50_latency: 0.1, p99_latency: 0.2, p50_latency_first_token: null };
const timeline = {
  step_seconds: 10,
  operations: {
    'opea_service@gateway/list': [{ ...point, at: 590_000, count: 1 }],
    'opea_service@gateway/chat': [
      { ...point, at: 580_000, count: 3, errors: 1 },
      { ...point, at: 590_000, count: 2 },
    ],
  },
};

describe('the timeline', () => {
  it('has the operations with the most requests first', () => {
    expect(operationsOf(timeline)[0]).toBe('opea_service@gateway/chat');
  });

  it('has a step for each ten seconds, also where nothing happened', () => {
    const [times, requests, errors] = loadOf(timeline, 595_000);
    expect(times).toHaveLength(60);
    expect(times.at(-1)).toBe(590);
    expect(requests.slice(-3)).toEqual([0, 18, 18]);
    expect(errors.slice(-3)).toEqual([0, 6, 0]);
  });

  it('has latencies in milliseconds, and gaps', () => {
    const [, p50, , firstToken] = latenciesOf(timeline, 'opea_service@gateway/chat', 595_000);
    expect(p50?.slice(-3)).toEqual([null, 100, 100]);
    expect(firstToken?.at(-1)).toBeNull();
  });
});
