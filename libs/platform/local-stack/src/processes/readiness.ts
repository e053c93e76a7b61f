import { setTimeout as delay } from 'node:timers/promises';
import { request } from 'undici';
import type { OutputLine } from './child.js';
import { processorMsOf, wakeupsOf } from './processor-time.js';

/** A starting child, as a readiness probe sees it. */
export interface StartingProcess {
  /** Calls `listener` with each line, starting with the first one. */
  onLine(listener: (line: OutputLine) => void): void;
  /** Aborts when the child dies or when its start is aborted. */
  signal: AbortSignal;
}

/** Resolves when the child is ready; rejects when the signal aborts. */
export type Readiness = (child: StartingProcess) => Promise<void>;

/** Waits for the first line for which `select` returns a value, and returns this value. */
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

/** Timeout of one request, so that a hanging request does not block the start. */
const answerTimeoutMs = 3_000;

/**
 * Polls `url` every 50 ms until it answers 200. A refused connection or another status means that it is not ready yet.
 */
export async function waitForHttp(url: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    if ((await statusOf(url, AbortSignal.any([signal, AbortSignal.timeout(answerTimeoutMs)]))) === 200)
      return;
    await delay(50, undefined, { signal });
  }
}

/** Does not use `fetch`, which refuses port 6000, the default port of the embedding service. */
async function statusOf(url: string, signal: AbortSignal): Promise<number | undefined> {
  try {
    const { statusCode, body } = await request(url, { signal });
    await body.dump();
    return statusCode;
  } catch {
    return undefined;
  }
}

/** The URL from the log line "listening" of a service. */
function parseListening(text: string): string | undefined {
  if (!text.includes('"listening"')) return undefined;
  try {
    const entry = JSON.parse(text) as { msg?: unknown; url?: unknown };
    return entry.msg === 'listening' && typeof entry.url === 'string' ? entry.url : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Waits for the JSON log line `{"msg":"listening","url":…}` and returns its URL, which has the actual port for port 0.
 */
export function waitForListeningUrl(child: StartingProcess): Promise<string> {
  return waitForLine(child, (line) => parseListening(line.text));
}

/** Liveness probe of a running child. */
export interface Liveness {
  /** Resolves when the child answers; rejects if it does not, at the latest when the signal aborts. */
  probe(signal: AbortSignal): Promise<void>;
  /** Milliseconds between two probes. */
  intervalMs: number;
  /**
   * A number that rises while the child's event loop turns: then it is not probed, since probes of all children keep an idle
   * machine awake. A loop that turns without an answer is left to the child's own watchdog.
   */
  turns?(pid: number | undefined): number | undefined;
  /** Consecutive probes without an answer after which the child counts as hung. A late answer still counts. */
  misses: number;
}

/** Detects a hang within 5 s. An answer may take 3.6 s, or longer while the process uses the processor. */
const patience = { intervalMs: 1_200, misses: 3 };

/** Probes a server over HTTP. Any status counts, because this does not check its health. */
export function liveOverHttp(url: string): Liveness {
  return {
    ...patience,
    turns: wakeupsOf,
    probe: async (signal) => {
      const { body } = await request(url, { signal });
      await body.dump();
    },
  };
}

/** Probes a server that sends a greeting on every new connection. */
export function liveByGreeting(greet: (signal: AbortSignal) => Promise<unknown>): Liveness {
  return { ...patience, probe: async (signal) => void (await greet(signal)) };
}

/** Share of a processor, while the child does not answer, from which it counts as busy and not as hung. */
const busyShare = 0.05;

/**
 * Probes until the child hangs or the signal aborts. Returns true if the child hangs. A child that does not answer
 * but uses the processor is busy; its own watchdog ends it after `HANG_LIMIT_MS`.
 */
export async function watchLiveness(liveness: Liveness, signal: AbortSignal, pid?: number): Promise<boolean> {
  const { intervalMs, misses } = liveness;
  const processorMs = () => processorMsOf(pid);
  let turned = liveness.turns?.(pid);
  let unanswered = 0;
  let usedBefore = processorMs() ?? 0;
  while (!signal.aborted) {
    if (unanswered >= misses) {
      const used = processorMs() ?? 0;
      if (used - usedBefore < busyShare * intervalMs * misses) return true;
      unanswered = 0;
    }
    if (unanswered === 0) usedBefore = processorMs() ?? 0;
    const before = turned;
    turned = liveness.turns?.(pid);
    if (before !== undefined && turned !== undefined && turned > before) unanswered = 0;
    else {
      unanswered += 1;
      const limit = AbortSignal.any([signal, AbortSignal.timeout(intervalMs * misses)]);
      liveness.probe(limit).then(
        () => (unanswered = 0),
        () => undefined,
      );
    }
    await delay(intervalMs, undefined, { signal }).catch(() => undefined);
  }
  return false;
}
