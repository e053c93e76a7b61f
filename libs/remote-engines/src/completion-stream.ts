import type { Response } from 'undici';
import type { MegaNestError } from '#contracts';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { completionChunkSchema, type CompletionChunk } from './completion-chunk.js';
import { overflowError } from './context-overflow.js';
import { readRefusal } from './refusal.js';
import type { RemoteServer } from './remote-server.js';

/**
 * The frames of an OpenAI-compatible answer up to `[DONE]`. Errors: bad_upstream for an error in the stream, an
 * unreadable frame, or a stream that ends without `[DONE]`; service_unavailable when the connection breaks.
 */
export async function* readCompletionStream(
  response: Response,
  server: RemoteServer,
  signal: AbortSignal,
): AsyncGenerator<CompletionChunk, void, void> {
  if (!response.body) throw server.unexpected('its engine sent no body');
  const events = response.body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream());
  try {
    for await (const { data } of events) {
      if (data === '[DONE]') return;
      const chunk = server.validate(data, completionChunkSchema);
      if (chunk.error !== undefined && chunk.error !== null) throw failureIn(data, server);
      yield chunk;
    }
  } catch (error) {
    throw server.networkError(error, signal);
  }
  throw server.unexpected('its engine ended the stream early');
}

function failureIn(data: string, server: RemoteServer): MegaNestError {
  const refusal = readRefusal(data);
  return overflowError(refusal, 'llm') ?? server.unexpected(`its engine failed: ${refusal.message}`);
}
