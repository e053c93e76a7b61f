import autocannon from 'autocannon';

/** Outcome of a streamed chat, determined from its whole body. */
export type ChatOutcome = 'answered' | 'lost' | 'broken';

/**
 * Classifies a body. `answered`: text and the end marker. `broken`: an error after streamed text. `lost`: a stream
 * without text, or one that ends without an end marker.
 */
export function chatOutcome(body: string): ChatOutcome {
  const hasText = /"content":"[^"]/.test(body);
  const failed = /"error":\{/.test(body);
  if (!hasText) return 'lost';
  if (failed) return 'broken';
  return body.trimEnd().endsWith('data: [DONE]') ? 'answered' : 'lost';
}

export interface LoadOptions {
  url: string;
  /** Maximum number of concurrent chats. */
  connections: number;
  /** For this time, after which running chats are aborted; or for this number of chats, each to its end. */
  extent: { seconds: number } | { chats: number };
  /** Chats that start per second, independent of the earlier ones; if absent, a chat starts when another one ends. */
  arrivalsPerSecond?: number;
  questions: readonly string[];
}

export interface LoadResult {
  /** Answered chats per second. */
  throughput: number;
  /** Times of whole answers, in milliseconds from the time when the chat was due. */
  p50: number;
  p99: number;
  slowest: number;
  outcomes: Record<ChatOutcome, number>;
  /** Answers whose passages were not reranked, because it failed or took too long. */
  withoutReranking: number;
  /** Status codes other than 200, broken connections, and requests without an answer in time. */
  refused: number;
  errors: number;
  timeouts: number;
}

const timeoutSeconds = 60;

/**
 * Streams chats from a gateway. With `arrivalsPerSecond` a chat that had to wait for a free connection is timed from
 * the moment when it was due, so that a slow server does not hide its own queue (coordinated omission).
 */
export async function drive(options: LoadOptions): Promise<LoadResult> {
  const { extent } = options;
  const outcomes: Record<ChatOutcome, number> = { answered: 0, lost: 0, broken: 0 };
  let withoutReranking = 0;
  const result = await autocannon({
    url: `${options.url}/v1/chat/completions`,
    connections: options.connections,
    ...('chats' in extent ? { amount: extent.chats } : { duration: extent.seconds }),
    timeout: timeoutSeconds,
    ...(options.arrivalsPerSecond && { overallRate: options.arrivalsPerSecond }),
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    requests: options.questions.map((content) => ({
      body: JSON.stringify({ model: 'chatqna', stream: true, messages: [{ role: 'user', content }] }),
      onResponse: (status, body, _context, headers) => {
        if (status === 200) outcomes[chatOutcome(body)] += 1;
        const timing = Object.entries(headers ?? {}).find(([name]) => name.toLowerCase() === 'server-timing');
        if (String(timing?.[1]).includes('reranking;desc="skipped"')) withoutReranking += 1;
      },
    })),
  });
  return {
    throughput: outcomes.answered / result.duration,
    p50: result.latency.p50,
    p99: result.latency.p99,
    slowest: result.latency.max,
    outcomes,
    withoutReranking,
    refused: result.non2xx,
    errors: result.errors - result.timeouts,
    timeouts: result.timeouts,
  };
}
