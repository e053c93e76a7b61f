import { setTimeout as delay } from 'node:timers/promises';
import { request } from 'undici';
import type { OutputLine } from './lines.js';

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
