import {
  invalidField,
  MegaNestError,
  parseOrThrow,
  transcriptionParametersSchema,
} from '#platform/contracts';
import { booleanSchema, bytes, contentOf, milliseconds, readFormParts } from '#platform/service-kit';
import type { MultipartFile } from '@fastify/multipart';
import type { FastifyRequest } from 'fastify';
import { basename } from 'node:path';
import { z } from 'zod';
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
  response_format: z.enum(responseFormats).default('json'),
  timestamp_granularities: list(z.enum(['segment', 'word'])),
  include: list(z.enum(['logprobs'])),
  stream: z.boolean().default(false),
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
  const fields = parseOrThrow(transcriptionFormSchema, givenFields(form.fields));
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

/** Texts that browsers and Python clients write into a form for a value that is not set. */
const unsetTexts: ReadonlySet<string> = new Set(['', 'null', 'undefined', 'None']);

/** The fields that are set. The language `auto` is what the model does without a language. */
function givenFields(fields: AudioForm['fields']): AudioForm['fields'] {
  const entries = Object.entries(fields).map(([name, value]) => {
    const given = [value].flat().filter((text) => !unsetTexts.has(text.trim()));
    return [name, Array.isArray(value) ? given : given[0]] as const;
  });
  const isSet = ([name, value]: (typeof entries)[number]) =>
    value !== undefined && value.length > 0 && !(name === 'language' && value === 'auto');
  return Object.fromEntries(entries.filter(isSet)) as AudioForm['fields'];
}

function audioOf({ audio }: AudioForm): AudioFile {
  if (audio) return audio;
  throw invalidField('file', 'is required');
}

/** The fields of a form; fields named `name[]` are lists. */
interface AudioForm {
  audio?: AudioFile;
  fields: Record<string, string | string[]>;
}

const fileFields = new Set(['file', 'files', 'audio']);
const maxFieldBytes = 256 * 1024;

/**
 * Reads a multipart form with one audio file. Errors: invalid_request and payload_too_large, with the field as `param`.
 */
export async function readAudioForm(request: FastifyRequest, maxBytes: number): Promise<AudioForm> {
  if (!request.isMultipart())
    throw new MegaNestError('invalid_request', {
      detail: 'Send a multipart form with the audio in the field "file".',
      param: 'file',
    });
  const form: AudioForm = { fields: {} };
  const limits = { files: 2, fieldSize: maxFieldBytes, fields: 50 };
  await readFormParts(request, limits, (part) => {
    if (part.type === 'file') return addFile(form, part, maxBytes);
    return addField(form.fields, part.fieldname, part.value, part.valueTruncated);
  });
  return form;
}

async function addFile(form: AudioForm, part: MultipartFile, maxBytes: number): Promise<void> {
  if (!fileFields.has(part.fieldname) || form.audio)
    throw invalidField(part.fieldname, 'send one file, in the field "file"');
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of contentOf(part)) {
    size += piece.length;
    if (size > maxBytes)
      throw new MegaNestError('payload_too_large', {
        what: 'The audio file',
        limit: `${maxBytes} bytes`,
        param: 'file',
      });
    pieces.push(piece);
  }
  const filename = basename(part.filename.replaceAll('\\', '/')).slice(-255) || 'audio';
  form.audio = { bytes: Buffer.concat(pieces), filename, mimeType: part.mimetype };
}

function addField(fields: AudioForm['fields'], name: string, given: unknown, truncated: boolean): void {
  if (truncated) throw invalidField(name, `is longer than ${maxFieldBytes} bytes`);
  const value = typeof given === 'string' ? given : JSON.stringify(given);
  const list = name.endsWith('[]');
  const key = list ? name.slice(0, -2) : name;
  const before = fields[key];
  if (list) fields[key] = [...(Array.isArray(before) ? before : []), value];
  else if (before === undefined) fields[key] = value;
  else fields[key] = [...[before].flat(), value];
}

/** Limits of an audio file, and of fetching it. */
export interface AudioLimits {
  maxBytes: number;
  linkTimeoutMs: number;
  /** URLs may point to private and loopback addresses. */
  allowPrivateLinks: boolean;
}

/** Injection token of the {@link AudioLimits}. */
export const audioLimits = Symbol('audioLimits');

/** The variables that set the {@link AudioLimits}. */
export const audioEnvironmentShape = {
  /** Maximum bytes of one audio file, uploaded or fetched. */
  AUDIO_LIMIT_BYTES: bytes('held').default(100 * 1024 * 1024),
  LINK_TIMEOUT_MS: milliseconds(100).default(20_000),
  /** Lets links point to private and loopback addresses, for an intranet whose users are trusted. */
  ALLOW_PRIVATE_LINKS: booleanSchema.default(false),
};

export function audioLimitsOf(environment: {
  AUDIO_LIMIT_BYTES: number;
  LINK_TIMEOUT_MS: number;
  ALLOW_PRIVATE_LINKS: boolean;
}): AudioLimits {
  return {
    maxBytes: environment.AUDIO_LIMIT_BYTES,
    linkTimeoutMs: environment.LINK_TIMEOUT_MS,
    allowPrivateLinks: environment.ALLOW_PRIVATE_LINKS,
  };
}
