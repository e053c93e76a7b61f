import type { MegaNestError } from '#contracts';
import { errorEnvelope } from '#service-kit';
import { z } from 'zod';
import type { BegunSpeech } from './synthesis.js';

/** OpenAI's events of speech. The models here count characters where OpenAI's count tokens. */
export const speechEventSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('speech.audio.delta'), audio: z.base64() }),
  z.object({
    type: z.literal('speech.audio.done'),
    usage: z.object({
      input_tokens: z.int().describe('Characters of the input'),
      output_tokens: z.int().describe('Seconds of speech, rounded up'),
      total_tokens: z.int(),
    }),
  }),
]);

/** One event for each piece of audio, and one at the end. */
export async function* speechFrames({ pieces }: BegunSpeech, input: string): AsyncGenerator<string> {
  let length = 0;
  for await (const { bytes, seconds } of pieces) {
    length += seconds;
    if (bytes.length > 0) yield frame({ type: 'speech.audio.delta', audio: bytes.toString('base64') });
  }
  const usage = { input_tokens: input.length, output_tokens: Math.ceil(length) };
  yield frame({
    type: 'speech.audio.done',
    usage: { ...usage, total_tokens: usage.input_tokens + usage.output_tokens },
  });
}

/** An error after the first event. */
export function speechErrorFrame(error: MegaNestError): string {
  return `event: error\ndata: ${JSON.stringify({ type: 'error', ...errorEnvelope(error) })}\n\n`;
}

function frame(event: z.input<typeof speechEventSchema>): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}
