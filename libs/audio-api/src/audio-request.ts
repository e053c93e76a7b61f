import { transcriptionParametersSchema, parseOrThrow, invalidField } from '#contracts';
import { z } from 'zod';
import type { AudioForm } from './audio-form.js';
import type { AudioFile, TranscriptionRequest } from './transcription.js';

/** Formats of OpenAI's transcriptions. */
export const responseFormats = ['json', 'text', 'srt', 'verbose_json', 'vtt'] as const;
/** Format of a transcription. */
export type ResponseFormat = (typeof responseFormats)[number];

const list = <Schema extends z.ZodType>(item: Schema) =>
  z.preprocess((value) => (value === undefined ? undefined : [value].flat()), z.array(item).optional());

/** The fields of OpenAI's form; all of them are text. */
export const transcriptionFormSchema = transcriptionParametersSchema.extend({
  model: z.string().optional(),
  temperature: z.coerce.number().min(0).max(1).optional(),
  response_format: z.enum(responseFormats).default('json'),
  timestamp_granularities: list(z.enum(['segment', 'word'])),
  include: list(z.enum(['logprobs'])),
  stream: z
    .enum(['true', 'false', '1', '0'])
    .transform((value) => value === 'true' || value === '1')
    .default(false),
});

/** A request, and the format of its response. */
export interface AudioRequest {
  transcription: TranscriptionRequest;
  format: ResponseFormat;
  stream: boolean;
  words: boolean;
  segments: boolean;
  logprobs: boolean;
  /** Fields without effect. */
  ignored: string[];
}

/** Parses a form. Errors: invalid_request with the field as `param`, also for contradicting fields. */
export function parseAudioForm(form: AudioForm, task: TranscriptionRequest['task']): AudioRequest {
  const fields = parseOrThrow(transcriptionFormSchema, form.fields);
  const {
    response_format: format,
    timestamp_granularities: granularities,
    include,
    stream,
    ...rest
  } = fields;
  if (granularities && format !== 'verbose_json')
    throw invalidField('timestamp_granularities', 'needs response_format verbose_json');
  if (include && format !== 'json') throw invalidField('include', 'logprobs need response_format json');
  if (stream && format !== 'json' && format !== 'text')
    throw invalidField('stream', `${format} cannot be streamed; use response_format json or text`);
  const words = granularities?.includes('word') ?? false;
  const logprobs = include?.includes('logprobs') ?? false;
  return {
    transcription: { ...rest, audio: audioOf(form), task, details: words || logprobs },
    format,
    stream,
    words,
    segments: granularities?.includes('segment') ?? !words,
    logprobs,
    ignored: Object.keys(form.fields).filter((name) => !(name in transcriptionFormSchema.shape)),
  };
}

function audioOf({ audio }: AudioForm): AudioFile {
  if (audio) return audio;
  throw invalidField('file', 'is required');
}
