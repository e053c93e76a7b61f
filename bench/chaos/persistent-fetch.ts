import { setTimeout as wait } from 'node:timers/promises';

/** Outcome of a request with all its retries. */
export interface Answered {
  /** 0: the connection broke, or an answer did not come in time. */
  status: number;
  /** The body, or the reason why it is missing. */
  text: string;
  attempts: number;
  /** Duration of the slowest attempt. */
  slowestMs: number;
}

/** Retries and timeout of the client. */
export interface Patience {
  /** Attempts after the first one. */
  retries: number;
  /** An attempt that takes longer is a hang. */
  limitMs: number;
}

/**
 * Sends a request like the openai client: with retries after a broken connection, 408, 409, 429 and 5xx, after
 * `Retry-After` or a growing pause. `isWhole` decides whether a 200 is complete; an incomplete answer is retried too.
 */
export async function persistentFetch(
  makeRequest: () => Request,
  { retries, limitMs }: Patience,
  isWhole: (text: string, bytes: Buffer<ArrayBuffer>) => boolean = () => true,
): Promise<Answered> {
  let slowestMs = 0;
  for (let attempts = 1; ; attempts += 1) {
    const startedAt = performance.now();
    const { status, bytes, retryAfter } = await send(makeRequest(), limitMs);
    const text = bytes.toString();
    slowestMs = Math.max(slowestMs, performance.now() - startedAt);
    const isDone = status < 300 && status > 0 && isWhole(text, bytes);
    const mayRetry = status < 300 || status >= 500 || [408, 409, 429].includes(status);
    if (isDone || !mayRetry || attempts > retries) {
      return { status: status < 300 && !isDone ? 0 : status, text, attempts, slowestMs };
    }
    const backOff = Math.min(8_000, 500 * 2 ** (attempts - 1)) * (1 - Math.random() / 4);
    await wait(retryAfter === undefined ? backOff : retryAfter * 1_000);
  }
}

async function send(
  request: Request,
  limitMs: number,
): Promise<{ status: number; bytes: Buffer<ArrayBuffer>; retryAfter?: number }> {
  try {
    const response = await fetch(request, { signal: AbortSignal.timeout(limitMs) });
    const bytes = Buffer.from(await response.arrayBuffer());
    const retryAfter = response.headers.get('retry-after');
    return {
      status: response.status,
      bytes,
      ...(retryAfter !== null && { retryAfter: Number(retryAfter) }),
    };
  } catch (error) {
    const { message, cause } = error as Error;
    return { status: 0, bytes: Buffer.from(`${message} ${cause instanceof Error ? cause.message : ''}`) };
  }
}
