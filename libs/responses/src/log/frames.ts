import type { ResponseEvent } from './events.js';

/** One event as a server-sent frame: its type, one line of data, a blank line. */
export function eventFrame(event: ResponseEvent): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

/** Events as frames, with `[DONE]` at the end. */
export async function* eventFrames(events: AsyncIterable<ResponseEvent>): AsyncGenerator<string> {
  for await (const event of events) yield eventFrame(event);
  yield 'data: [DONE]\n\n';
}
