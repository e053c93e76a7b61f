import { z } from 'zod';
import { fileReferenceSchema } from './dataprep.js';
import { defineMethod, describeMethod, modelInfoSchema } from './method.js';

export const transcriptionParametersSchema = z.object({
  language: z.string().min(2).max(32).optional().describe('ISO 639-1 code of what is spoken, e.g. en'),
  prompt: z.string().max(10_000).optional().describe('Text that came before, or names and spellings'),
  temperature: z.number().min(0).max(1).optional().describe('Randomness of models that have some'),
});
export type TranscriptionParameters = z.infer<typeof transcriptionParametersSchema>;

/** Times are seconds from the beginning of the audio. */
export const transcriptSegmentSchema = z.object({
  id: z.int(),
  start: z.number(),
  end: z.number(),
  text: z.string(),
  /** The text stands right behind the one before, without a space: it is written so in Chinese. */
  joined: z.boolean().optional(),
  /** Ids of the model's units. */
  tokens: z.array(z.int()),
  /** Mean of the logarithms of the units' probabilities. */
  avgLogprob: z.number(),
  temperature: z.number(),
  noSpeechProb: z.number().optional(),
  words: z.array(z.object({ word: z.string(), start: z.number(), end: z.number() })).optional(),
  logprobs: z.array(z.object({ token: z.string(), logprob: z.number() })).optional(),
});
export type TranscriptSegment = z.infer<typeof transcriptSegmentSchema>;

/** The first chunk tells of the audio, each further one holds a segment and how many seconds are behind. */
export const transcriptChunkSchema = z.object({
  audio: z
    .object({
      model: z.string(),
      seconds: z.number(),
      language: z.string(),
      /** Fields of the request that this model has no use for. */
      ignored: z.array(z.string()),
    })
    .optional(),
  segment: transcriptSegmentSchema.optional(),
  done: z.number().optional(),
});
export type TranscriptChunk = z.infer<typeof transcriptChunkSchema>;

/**
 * `asr.transcribe`: speech to text, segment by segment; the audio lies in the object store, and whoever put it there
 * removes it. Errors: unsupported_file, payload_too_large, unsupported_parameter, model_not_found, overloaded, cancelled.
 */
export const transcribe = defineMethod({
  service: 'asr',
  method: 'transcribe',
  request: transcriptionParametersSchema.extend({
    file: fileReferenceSchema,
    model: z.string().optional(),
    task: z.enum(['transcribe', 'translate']).default('transcribe'),
    /** With times of words and logarithms of probabilities. */
    details: z.boolean().default(false),
  }),
  reply: transcriptChunkSchema,
  streaming: true,
});

export const describeAsrModel = describeMethod('asr', modelInfoSchema);
