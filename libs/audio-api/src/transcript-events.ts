import type { MegaNestError } from '#contracts';
import { errorEnvelope } from '#service-kit';
import { z } from 'zod';
import { appended, type BegunTranscript } from './transcript.js';
import { logprobsOf } from './transcript-formats.js';

const logprobs = z
  .array(z.object({ token: z.string(), logprob: z.number(), bytes: z.array(z.int()) }))
  .optional();

export const transcriptEventSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('transcript.text.delta'), delta: z.string(), logprobs }),
  z.object({ type: z.literal('transcript.text.done'), text: z.string(), logprobs }),
]);

/** OpenAI's events: a delta for each segment, and the whole text at the end. */
export async function* transcriptFrames(
  { segments }: BegunTranscript,
  withLogprobs: boolean,
): AsyncGenerator<string> {
  let text = '';
  const all: ReturnType<typeof logprobsOf> = [];
  for await (const segment of segments) {
    const delta = appended(segment, text === '');
    text += delta;
    const own = logprobsOf(segment);
    all.push(...own);
    yield frame({ type: 'transcript.text.delta', delta, ...(withLogprobs && { logprobs: own }) });
  }
  yield frame({ type: 'transcript.text.done', text, ...(withLogprobs && { logprobs: all }) });
}

/** An error in mid-stream. */
export function transcriptErrorFrame(error: MegaNestError): string {
  return `event: error\ndata: ${JSON.stringify({ type: 'error', ...errorEnvelope(error) })}\n\n`;
}

function frame(event: z.input<typeof transcriptEventSchema>): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}
