import type { Timeline, TimelinePoint } from '#platform/contracts';

const minutes = 10;

function total(points: readonly TimelinePoint[]): number {
  return points.reduce((sum, { count }) => sum + count, 0);
}

/** The operations in descending order of requests. */
export function operationsOf(timeline: Timeline | undefined): string[] {
  const entries = Object.entries(timeline?.operations ?? {});
  return entries.toSorted((a, b) => total(b[1]) - total(a[1])).map(([name]) => name);
}

/** The times of the steps in seconds, then requests and errors per minute over all operations. */
export function loadOf(timeline: Timeline, now = Date.now()): [number[], number[], number[]] {
  const times = stepsOf(timeline, now);
  const points = Object.values(timeline.operations).flat();
  const factor = 60 / timeline.step_seconds;
  const sum = (time: number, read: (point: TimelinePoint) => number) =>
    points.filter(({ at }) => at === time).reduce((total, point) => total + read(point), 0) * factor;
  return [
    times.map((time) => time / 1000),
    times.map((time) => sum(time, ({ count }) => count)),
    times.map((time) => sum(time, ({ errors }) => errors)),
  ];
}

/** The times of the steps in seconds, then milliseconds of an operation: p50, p99, p50 of the first token (or null). */
export function latenciesOf(
  timeline: Timeline,
  operation: string,
  now = Date.now(),
): [number[], ...(number | null)[][]] {
  const times = stepsOf(timeline, now);
  const byTime = new Map((timeline.operations[operation] ?? []).map((point) => [point.at, point]));
  const read = (name: 'p50_latency' | 'p99_latency' | 'p50_latency_first_token') =>
    times.map((time) => {
      const seconds = byTime.get(time)?.[name];
      return seconds === undefined || seconds === null ? null : seconds * 1000;
    });
  return [
    times.map((time) => time / 1000),
    read('p50_latency'),
    read('p99_latency'),
    read('p50_latency_first_token'),
  ];
}

function stepsOf({ step_seconds: seconds }: Timeline, now: number): number[] {
  const step = seconds * 1000;
  const last = Math.floor(now / step) * step;
  const count = (minutes * 60) / seconds;
  return Array.from({ length: count }, (_none, index) => last - (count - 1 - index) * step);
}
