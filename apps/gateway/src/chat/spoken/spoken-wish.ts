import { MegaNestError } from '#contracts';
import type { ChatCompletionRequest } from '#openai-api';
import { z } from 'zod';

const formats = ['wav', 'mp3', 'flac', 'opus', 'pcm16'] as const;

/** How an answer is to be spoken. */
export interface SpokenWish {
  /** Absent: the voice of the tts service. */
  readonly voice?: string;
  /** What the caller calls the voice; default `audio.voice`. */
  readonly voiceField?: string;
  readonly format: (typeof formats)[number];
}

const modalitiesSchema = z.array(z.enum(['text', 'audio'])).nullish();
const voiceSchema = z
  .union([z.string().min(1).max(64), z.looseObject({ id: z.string().min(1).max(64) })])
  .transform((voice) => (typeof voice === 'string' ? voice : voice.id));
const audioSchema = z.looseObject({ voice: voiceSchema, format: z.enum(formats) }).nullish();

/**
 * Takes OpenAI's `modalities` and `audio` out of a request. Absent where the answer is text alone. Errors: invalid_request
 * with the field as `param`.
 */
export function takeSpokenWish(request: ChatCompletionRequest): {
  request: ChatCompletionRequest;
  wish?: SpokenWish;
} {
  const { modalities: given, audio: asked, ...extra } = request.extra;
  if (given === undefined && asked === undefined) return { request };
  const modalities = parse(modalitiesSchema, given, 'modalities') ?? ['text'];
  const audio = parse(audioSchema, asked, 'audio');
  const rest = { ...request, extra };
  if (!modalities.includes('audio')) {
    if (audio) throw invalid('audio', 'needs "audio" among modalities');
    return { request: rest };
  }
  if (!modalities.includes('text')) throw invalid('modalities', 'must hold "text" beside "audio"');
  if (!audio) throw invalid('audio', 'is required for the modality "audio": a voice and a format');
  if (request.stream && audio.format !== 'pcm16')
    throw invalid('audio.format', 'must be "pcm16" where the answer is streamed');
  if ((request.parameters.n ?? 1) > 1) throw invalid('n', 'must be 1 for spoken answers');
  return { request: rest, wish: { voice: audio.voice, format: audio.format } };
}

function parse<Schema extends z.ZodType>(schema: Schema, value: unknown, name: string): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw invalid([name, ...(issue?.path ?? [])].join('.'), issue?.message ?? 'is not valid');
}

function invalid(param: string, reason: string): MegaNestError {
  return new MegaNestError('invalid_request', { detail: `${param}: ${reason}`, param });
}
