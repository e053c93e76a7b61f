import { setTimeout as delay } from 'node:timers/promises';
import { request } from 'undici';
import type { OutputLine } from './child.js';

/** What a readiness probe may look at while a child starts. */
export interface StartingProcess {
  /** Calls back with each line from the first one on. */
  onLine(listener: (line: OutputLine) => void): void;
  /** Aborts when the child dies or its start is given up. */
  signal: AbortSignal;
}

/** Resolves once the child serves; rejects when the signal aborts. */
export type Readiness = (child: StartingProcess) => Promise<void>;

/** Waits for the line that `select` turns into a value. */
export function waitForLine<Value>(
  child: StartingProcess,
  select: (line: OutputLine) => Value | undefined,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    const fail = () => reject(child.signal.reason as Error);
    if (child.signal.aborted) return fail();
    child.signal.addEventListener('abort', fail, { once: true });
    child.onLine((line) => {
      const value = select(line);
      if (value !== undefined) resolve(value);
    });
  });
}

/** One question that hangs must not hold up the start. */
const answerTimeoutMs = 3_000;

/** Asks `url` every 50 ms until it answers 200. A refused connection or any other status means "not yet". */
export async function waitForHttp(url: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    if ((await statusOf(url, AbortSignal.any([signal, AbortSignal.timeout(answerTimeoutMs)]))) === 200)
      return;
    await delay(50, undefined, { signal });
  }
}

/** Not by `fetch`: it refuses port 6000, which is the embedding service's. */
async function statusOf(url: string, signal: AbortSignal): Promise<number | undefined> {
  try {
    const { statusCode, body } = await request(url, { signal });
    await body.dump();
    return statusCode;
  } catch {
    return undefined;
  }
}

/** The fields of a service's log line that says where it listens. */
function parseListening(text: string): string | undefined {
  if (!text.includes('"listening"')) return undefined;
  try {
    const entry = JSON.parse(text) as { msg?: unknown; url?: unknown };
    return entry.msg === 'listening' && typeof entry.url === 'string' ? entry.url : undefined;
  } catch {
    return undefined;
  }
}

/** Waits for the JSON log line `{"msg":"listening","url":…}` and returns its URL: how a child on port 0 tells its port. */
export function waitForListeningUrl(child: StartingProcess): Promise<string> {
  return waitForLine(child, (line) => parseListening(line.text));
}

/** How a running child is asked whether it still moves. */
export interface Liveness {
  /** Resolves when the child answers; rejects when it does not, at the latest when the signal aborts. */
  probe(signal: AbortSignal): Promise<void>;
  /** Wait between two questions, in milliseconds. */
  intervalMs: number;
  /** Questions in a row without an answer after which the child counts as hung. A late answer counts too. */
  misses: number;
}

/** A hang is noticed within 5 s of its beginning; an answer may take 3.6 s. */
const patience = { intervalMs: 1_200, misses: 3 };

/** Any answer of a server counts: that it is well is another question. */
export function liveOverHttp(url: string): Liveness {
  return {
    ...patience,
    probe: async (signal) => {
      const { body } = await request(url, { signal });
      await body.dump();
    },
  };
}

/** A server that says something on every new connection. */
export function liveByGreeting(greet: (signal: AbortSignal) => Promise<unknown>): Liveness {
  return { ...patience, probe: async (signal) => void (await greet(signal)) };
}

/** Asks until the child hangs or the signal aborts; true where it hangs. */
export async function watchLiveness(liveness: Liveness, signal: AbortSignal): Promise<boolean> {
  const { intervalMs, misses } = liveness;
  let unanswered = 0;
  while (!signal.aborted) {
    if (unanswered >= misses) return true;
    unanswered += 1;
    const limit = AbortSignal.any([signal, AbortSignal.timeout(intervalMs * misses)]);
    liveness.probe(limit).then(
      () => (unanswered = 0),
      () => undefined,
    );
    await delay(intervalMs, undefined, { signal }).catch(() => undefined);
  }
  return false;
}
