import { maxSpeechCharacters, speechFormats, speechParametersSchema } from '#contracts';
import { z } from 'zod';

/** The body of OpenAI's `POST /v1/audio/speech`. */
export const speechBodySchema = speechParametersSchema
  .extend({
    model: z.string().optional(),
    input: z
      .string()
      .min(1, 'must hold a text to speak')
      .max(maxSpeechCharacters, `has more than ${maxSpeechCharacters} characters`)
      .refine((text) => text.trim() !== '', 'must hold a text to speak'),
    voice: z
      .union([z.string().min(1).max(64), z.looseObject({ id: z.string().min(1).max(64) })])
      .transform((voice) => (typeof voice === 'string' ? voice : voice.id))
      .optional()
      .describe("A voice of the model, or one of OpenAI's names"),
    response_format: z.enum(speechFormats).default('mp3'),
    stream_format: z.enum(['audio', 'sse']).default('audio'),
  })
  .loose();
export type SpeechBody = z.output<typeof speechBodySchema>;

/** Fields of a body that have no effect. */
export function unknownFields(body: object): string[] {
  return Object.keys(body).filter((name) => !(name in speechBodySchema.shape));
}
