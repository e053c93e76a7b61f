import type { CDPSession, Page } from 'playwright-core';

/** What scrolling costs, by the browser's own trace. */
export interface ScrollCost {
  frames: number;
  /** Frames in a second of scrolling: fewer than 60 also where other programs have the processor. */
  perSecond: number;
  /** Milliseconds of processor time that the page's thread needs for scripts, layout and paint of a frame. */
  median: number;
  p95: number;
  most: number;
}

interface TraceEvent {
  name: string;
  ph: string;
  ts: number;
  dur?: number;
  tdur?: number;
  pid: number;
  tid: number;
}

const categories = [
  'devtools.timeline',
  'disabled-by-default-devtools.timeline',
  'disabled-by-default-devtools.timeline.frame',
];
/** Pixels a second: a page of text in a fifth of one. */
const speed = 4_000;

/** Scrolls like the wheel of a mouse over a point of the page, and reads from the trace what each frame cost. */
export async function scrollCost(
  page: Page,
  at: { x: number; y: number },
  distance: number,
): Promise<ScrollCost> {
  const session = await page.context().newCDPSession(page);
  const events = await traced(session, () =>
    session.send('Input.synthesizeScrollGesture', {
      ...at,
      yDistance: distance,
      speed,
      gestureSourceType: 'mouse',
      preventFling: true,
    }),
  );
  await session.detach();
  return costOf(events);
}

async function traced(session: CDPSession, work: () => Promise<unknown>): Promise<TraceEvent[]> {
  const events: TraceEvent[] = [];
  session.on('Tracing.dataCollected', ({ value }) => void events.push(...(value as unknown as TraceEvent[])));
  await session.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: { includedCategories: categories },
  });
  await work();
  const complete = new Promise((resolve) => session.once('Tracing.tracingComplete', resolve));
  await session.send('Tracing.end');
  await complete;
  return events;
}

/** A frame begins with BeginMainThreadFrame; its work is that of the thread's tasks until the next one. */
function costOf(events: readonly TraceEvent[]): ScrollCost {
  const began = framesOfPage(events);
  const [first] = began;
  const last = began.at(-1);
  if (!first || !last || began.length < 2) throw new Error('The trace has no frames');
  const work = began.map(() => 0);
  for (const { name, ph, pid, tid, ts, dur = 0, tdur = 0 } of events) {
    if (name !== 'RunTask' || ph !== 'X' || pid !== first.pid || tid !== first.tid) continue;
    const frame = began.findLastIndex((event) => event.ts <= ts + dur);
    if (frame >= 0) work[frame] = (work[frame] ?? 0) + tdur / 1000;
  }
  const sorted = work.toSorted((a, b) => a - b);
  const share = (part: number) => sorted[Math.min(Math.floor(sorted.length * part), sorted.length - 1)] ?? 0;
  const drawn = events.filter(({ name, pid }) => name === 'DrawFrame' && pid === first.pid).length;
  return {
    frames: began.length,
    perSecond: drawn / ((last.ts - first.ts) / 1_000_000),
    median: share(0.5),
    p95: share(0.95),
    most: share(1),
  };
}

/** The frames of the thread with the most: the trace holds those of the browser's other pages, too. */
function framesOfPage(events: readonly TraceEvent[]): TraceEvent[] {
  const threads = new Map<string, TraceEvent[]>();
  for (const event of events) {
    if (event.name !== 'BeginMainThreadFrame') continue;
    const thread = `${event.pid} ${event.tid}`;
    threads.set(thread, [...(threads.get(thread) ?? []), event]);
  }
  const [most = []] = [...threads.values()].toSorted((a, b) => b.length - a.length);
  return most.toSorted((a, b) => a.ts - b.ts);
}
