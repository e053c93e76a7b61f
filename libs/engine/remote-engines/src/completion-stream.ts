import type { MegaNestError } from '#platform/contracts';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import type { Response } from 'undici';
import { completionChunkSchema, isFailure, type CompletionChunk } from './completion-chunk.js';
import { overflowError, readRefusal, type RemoteServer } from './remote-server.js';

/** The mark of an engine that its stream is complete. */
export const doneMark = '[DONE]';

/**
 * Yields the frames of an OpenAI-compatible stream, and `[DONE]` if the engine sends it. An engine that answers with
 * JSON yields one frame. Errors: bad_upstream for an error in the stream, or an unreadable frame; service_unavailable
 * when the connection breaks.
 */
export async function* readCompletionStream(
  response: Response,
  server: RemoteServer,
  signal: AbortSignal,
): AsyncGenerator<CompletionChunk | typeof doneMark, void, void> {
  if (!response.body) throw server.unexpected('its engine sent no body');
  try {
    for await (const { data, event, isCut } of messagesOf(
      response.body.pipeThrough(new TextDecoderStream()),
    )) {
      if (data.trim() === '') continue;
      if (data.trim() === doneMark) {
        yield doneMark;
        return;
      }
      if (isCut && !isJson(data)) return;
      const chunk = server.validate(data, completionChunkSchema);
      if (event === 'error' || (chunk && isFailure(chunk))) throw failureIn(data, server);
      if (chunk) yield chunk;
    }
  } catch (error) {
    throw server.networkError(error, signal);
  }
}

function failureIn(data: string, server: RemoteServer): MegaNestError {
  const refusal = readRefusal(data);
  return overflowError(refusal, 'llm') ?? server.unexpected(`its engine failed: ${refusal.message}`);
}

/** An event of a stream; `isCut`: the stream ended before the blank line after the event. */
type Message = EventSourceMessage & { isCut?: boolean };

/** Splits a body into server-sent events. A body that is JSON, or JSON in each line, is one event, or one for each line. */
async function* messagesOf(body: AsyncIterable<string>): AsyncGenerator<Message, void, void> {
  let messages: Message[] = [];
  const parser = createParser({ onEvent: (message) => messages.push(message) });
  const taken = () => {
    const given = messages;
    messages = [];
    return given;
  };
  let begin = '';
  let json: string | undefined;
  for await (const text of body) {
    if (json !== undefined) json += text;
    else if (begin.trim() === '' && /^\s*[{[]/.test(begin + text)) json = begin + text;
    else parser.feed(text);
    if (begin.trim() === '') begin += text;
    yield* taken();
  }
  if (json !== undefined) {
    yield* (isJson(json) ? [json] : json.split('\n')).map((data) => ({ data }));
    return;
  }
  parser.feed('\n\n');
  yield* taken().map((message) => ({ ...message, isCut: true }));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
