import type { CDPSession, Page } from 'playwright-core';

/** What scrolling costs, by the browser's own trace. */
export interface ScrollCost {
  /** Frames that were drawn. */
  frames: number;
  /** Frames in a second of scrolling; a display shows 60. */
  perSecond: number;
  /** Share of the display's frames that show nothing new, in percent. */
  dropped: number;
  /** Milliseconds of processor time that the page's thread needs for scripts, layout and paint, for each frame of the display. */
  work: number;
  /** Share of its time in which the page's thread waited, mostly for the processor that other programs had, in percent. */
  waiting: number;
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
/** Frames that the display of a browser without a window shows in a second. */
const display = 60;
/** Fewer frames are not a scrolled list. */
const fewest = 30;

/** Scrolls like the wheel of a mouse over a point of the page, and reads from the trace what it cost. */
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

function costOf(events: readonly TraceEvent[]): ScrollCost {
  const { pid, tid } = threadOfPage(events);
  const drawn = events.filter((event) => event.name === 'DrawFrame' && event.pid === pid).map(({ ts }) => ts);
  const [first, last] = [Math.min(...drawn), Math.max(...drawn)];
  if (drawn.length < fewest) throw new Error(`The trace has ${drawn.length} frames`);
  const tasks = events.filter(
    (event) => event.name === 'RunTask' && event.ph === 'X' && event.pid === pid && event.tid === tid,
  );
  const during = tasks.filter(({ ts }) => ts >= first && ts <= last);
  const worked = during.reduce((sum, { tdur = 0 }) => sum + tdur, 0);
  const lasted = during.reduce((sum, { dur = 0 }) => sum + dur, 0);
  const seconds = (last - first) / 1_000_000;
  const perSecond = (drawn.length - 1) / seconds;
  return {
    frames: drawn.length,
    perSecond,
    dropped: Math.max(0, 1 - perSecond / display) * 100,
    work: worked / 1000 / (seconds * display),
    waiting: (1 - worked / lasted) * 100,
  };
}

/** The thread with the most frames: the trace holds those of the browser's other pages, too. */
function threadOfPage(events: readonly TraceEvent[]): TraceEvent {
  const threads = new Map<string, TraceEvent[]>();
  for (const event of events) {
    if (event.name !== 'BeginMainThreadFrame') continue;
    const thread = `${event.pid} ${event.tid}`;
    threads.set(thread, [...(threads.get(thread) ?? []), event]);
  }
  const [most] = [...threads.values()].toSorted((a, b) => b.length - a.length);
  if (!most?.[0]) throw new Error('The trace has no frames');
  return most[0];
}
