import { z } from 'zod';
import { fileReferenceSchema } from './dataprep.js';
import { defineMethod, describeMethod, modelInfoSchema } from './method.js';

export const transcriptionParametersSchema = z.object({
  language: z.string().min(2).max(32).optional().describe('ISO 639-1 code of the spoken language, e.g. en'),
  prompt: z.string().max(10_000).optional().describe('The text before the audio, or names and spellings'),
  temperature: z.number().min(0).max(1).optional().describe('Randomness, for models that sample'),
});
export type TranscriptionParameters = z.infer<typeof transcriptionParametersSchema>;

/** Times are seconds from the beginning of the audio. */
export const transcriptSegmentSchema = z.object({
  id: z.int(),
  start: z.number(),
  end: z.number(),
  text: z.string(),
  /** The text follows the previous segment without a space, as in Chinese. */
  joined: z.boolean().optional(),
  /** Token ids of the model. */
  tokens: z.array(z.int()),
  /** Mean log probability of the tokens. */
  avgLogprob: z.number(),
  temperature: z.number(),
  noSpeechProb: z.number().optional(),
  words: z.array(z.object({ word: z.string(), start: z.number(), end: z.number() })).optional(),
  logprobs: z.array(z.object({ token: z.string(), logprob: z.number() })).optional(),
});
export type TranscriptSegment = z.infer<typeof transcriptSegmentSchema>;

/** The first chunk describes the audio. Each further chunk has a segment and the seconds transcribed so far. */
export const transcriptChunkSchema = z.object({
  audio: z
    .object({
      model: z.string(),
      seconds: z.number(),
      language: z.string(),
      /** Fields of the request that have no effect on this model. */
      ignored: z.array(z.string()),
    })
    .optional(),
  segment: transcriptSegmentSchema.optional(),
  done: z.number().optional(),
});
export type TranscriptChunk = z.infer<typeof transcriptChunkSchema>;

/**
 * `asr.transcribe`: speech to text, segment by segment. The audio is in the object store; the caller puts it there and
 * removes it. Errors: unsupported_file, payload_too_large, unsupported_parameter, model_not_found, overloaded,
 * cancelled.
 */
export const transcribe = defineMethod({
  service: 'asr',
  method: 'transcribe',
  request: transcriptionParametersSchema.extend({
    file: fileReferenceSchema,
    model: z.string().optional(),
    task: z.enum(['transcribe', 'translate']).default('transcribe'),
    /** Include the times of words and the log probabilities. */
    details: z.boolean().default(false),
  }),
  reply: transcriptChunkSchema,
  streaming: true,
});

export const describeAsrModel = describeMethod('asr', modelInfoSchema);
