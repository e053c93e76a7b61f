import { transcriptionParametersSchema, parseOrThrow, invalidField } from '#contracts';
import { z } from 'zod';
import type { AudioForm } from './audio-form.js';
import type { AudioFile, TranscriptionRequest } from './transcription.js';

export const responseFormats = ['json', 'text', 'srt', 'verbose_json', 'vtt'] as const;
export type ResponseFormat = (typeof responseFormats)[number];

const list = <Schema extends z.ZodType>(item: Schema) =>
  z.preprocess((value) => (value === undefined ? undefined : [value].flat()), z.array(item).optional());

/** The fields of OpenAI's form, all of them text. */
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

/** A request, and the form that its answer has. */
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

/** Errors: invalid_request with the field as `param`, for fields that contradict each other too. */
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
    throw invalidField('stream', `an answer in ${format} cannot be streamed; ask for json or text`);
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
