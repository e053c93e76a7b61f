import { MegaNestError, type GenerationChunk } from '#contracts';
import type { Metrics } from './metrics.js';

/**
 * Passes a generation through and records its time to the first token, its duration and its outcome: `cancelled` where the
 * consumer leaves early or the error says so. The first token is the first chunk with text, reasoning or a tool call.
 * With `countUsage` the tokens of the final usage are counted, too.
 */
export async function* measureGeneration(
  metrics: Pick<Metrics, 'start' | 'countTokens'>,
  operation: string,
  chunks: AsyncIterable<GenerationChunk>,
  { countUsage = false }: { countUsage?: boolean } = {},
): AsyncGenerator<GenerationChunk, void, void> {
  const running = metrics.start(operation);
  let outcome: 'ok' | 'error' | 'cancelled' = 'cancelled';
  let waiting = true;
  try {
    for await (const chunk of chunks) {
      if (waiting && hasOutput(chunk)) {
        running.firstToken();
        waiting = false;
      }
      if (countUsage && chunk.usage) {
        metrics.countTokens('prompt', chunk.usage.promptTokens);
        metrics.countTokens('completion', chunk.usage.completionTokens);
      }
      yield chunk;
    }
    outcome = 'ok';
  } catch (error) {
    if (!(error instanceof MegaNestError && error.code === 'cancelled')) outcome = 'error';
    throw error;
  } finally {
    running.end(outcome);
  }
}

function hasOutput({ text, reasoning, toolCalls }: GenerationChunk): boolean {
  return text !== '' || reasoning !== undefined || toolCalls !== undefined;
}
