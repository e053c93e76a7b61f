import type { GenerationChunk } from '#contracts';
import type { Metrics } from '#service-kit';

/** Passes a generation through and records its time to the first token, its duration, outcome and tokens. */
export async function* measureStream(
  metrics: Metrics,
  operation: string,
  chunks: AsyncIterable<GenerationChunk>,
): AsyncGenerator<GenerationChunk> {
  const running = metrics.start(operation);
  let outcome: 'ok' | 'error' | 'cancelled' = 'cancelled';
  let waiting = true;
  try {
    for await (const chunk of chunks) {
      if (waiting && chunk.text) {
        running.firstToken();
        waiting = false;
      }
      if (chunk.usage) {
        metrics.countTokens('prompt', chunk.usage.promptTokens);
        metrics.countTokens('completion', chunk.usage.completionTokens);
      }
      yield chunk;
    }
    outcome = 'ok';
  } catch (error) {
    outcome = 'error';
    throw error;
  } finally {
    running.end(outcome);
  }
}
