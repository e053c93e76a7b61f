import { MegaNestError, type GenerationChunk } from '#contracts';
import type { Metrics } from '#service-kit';

/** Passes a generation on and notes its first text, its duration and how it ended. */
export async function* measureGeneration(
  metrics: Pick<Metrics, 'start'>,
  chunks: AsyncIterable<GenerationChunk>,
): AsyncGenerator<GenerationChunk, void, void> {
  const running = metrics.start('generate');
  let silent = true;
  try {
    for await (const chunk of chunks) {
      if (silent && saysSomething(chunk)) running.firstToken();
      silent = silent && !saysSomething(chunk);
      yield chunk;
    }
    running.end('ok');
  } catch (error) {
    running.end(error instanceof MegaNestError && error.code === 'cancelled' ? 'cancelled' : 'error');
    throw error;
  } finally {
    // Without effect unless the consumer left the loop.
    running.end('cancelled');
  }
}

function saysSomething({ text, reasoning, toolCalls }: GenerationChunk): boolean {
  return text !== '' || reasoning !== undefined || toolCalls !== undefined;
}
