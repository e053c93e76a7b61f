import { z } from 'zod';
import { defineMethod, describeMethod, modelInfoSchema } from './method.js';

/** Encodings of speech; `pcm` is 16-bit little-endian samples without a header. */
export const speechFormats = ['mp3', 'opus', 'wav', 'flac', 'pcm'] as const;
export type SpeechFormat = (typeof speechFormats)[number];

/** Maximum characters of the text of one request, as in OpenAI's API. */
export const maxSpeechCharacters = 4096;

/** Maximum estimated length of the speech of one request, in seconds: {@link maxSpeechCharacters} letters at the lowest speed. */
export const maxSpeechSeconds = 1_200;

/** Seconds of speech of a letter or a space, and of a digit or a symbol, which are read as words: "9" as "nine". */
const secondsOfLetter = 0.07;
const secondsOfSymbol = 0.45;

/** Estimated seconds of speech of a character at the normal speed. */
export function speechSecondsOf(character: string): number {
  return /[\p{L}\p{M}\s.,;:!?'"()-]/u.test(character) ? secondsOfLetter : secondsOfSymbol;
}

/** Estimated seconds of speech of a text. */
export function estimateSpeechSeconds(text: string, speed = 1): number {
  let seconds = 0;
  for (const character of text) seconds += speechSecondsOf(character);
  return seconds / speed;
}

export const speechParametersSchema = z.object({
  voice: z.string().min(1).max(64).optional().describe("A voice of the model or one of OpenAI's names"),
  speed: z.number().min(0.25).max(4).default(1).describe('1 is the normal speed of the voice'),
  instructions: z.string().max(4096).optional().describe('How to speak; only some models support it'),
});
export type SpeechParameters = z.infer<typeof speechParametersSchema>;

/** The first chunk describes the voice; each further one holds encoded audio in base64 and its length in seconds. */
export const speechChunkSchema = z.object({
  voice: z
    .object({
      model: z.string(),
      voice: z.string(),
      /** Sample rate of the encoded audio in Hz. */
      sampleRate: z.int(),
      /** Fields of the request without an effect on this model. */
      ignored: z.array(z.string()),
    })
    .optional(),
  audio: z.base64().optional(),
  seconds: z.number().optional(),
});
export type SpeechChunk = z.infer<typeof speechChunkSchema>;

/**
 * `tts.synthesize`: text to speech, sentence by sentence, encoded in `format`. Errors: invalid_request (an unknown voice,
 * a text without words), model_not_found, overloaded, cancelled.
 */
export const synthesize = defineMethod({
  service: 'tts',
  method: 'synthesize',
  request: speechParametersSchema.extend({
    input: z.string().min(1).max(maxSpeechCharacters),
    model: z.string().optional(),
    format: z.enum(speechFormats).default('mp3'),
  }),
  reply: speechChunkSchema,
  streaming: true,
});

export const ttsInfoSchema = modelInfoSchema.extend({
  voices: z.array(z.string()).describe('Accepted values of `voice`; empty if a remote engine decides'),
});
export type TtsInfo = z.infer<typeof ttsInfoSchema>;

export const describeTtsModel = describeMethod('tts', ttsInfoSchema);
