import { z } from 'zod';
import { parseOrThrow, transcriptionParametersSchema, invalidField } from '#platform/contracts';
import type { TurnRules } from './audio-buffer.js';

/** Maximum number and length of reported names; a client does not get its whole message back. */
const maxNames = 32;
const maxNameLength = 100;

/**
 * Returns the paths, such as `turn_detection.create_response`, of unknown fields of an object, limited in number
 * and length. Fields that are null are left out.
 */
export function unknownFields(schema: z.ZodType, value: object): string[] {
  return pathsOf(schema, value, '')
    .slice(0, maxNames)
    .map((path) => path.slice(0, maxNameLength));
}

function pathsOf(schema: unknown, value: unknown, path: string): string[] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable)
    return pathsOf(schema.unwrap(), value, path);
  if (!(schema instanceof z.ZodObject) || typeof value !== 'object' || value === null) return [];
  const { shape } = schema;
  return Object.entries(value).flatMap(([name, inner]) => {
    if (Object.hasOwn(shape, name)) return pathsOf(shape[name], inner, `${path}${name}.`);
    return inner === null ? [] : [`${path}${name}`];
  });
}

/** The two versions of OpenAI's Realtime API: the current one, and the beta with `OpenAI-Beta: realtime=v1`. */
export type Dialect = 'ga' | 'beta';

/** Settings of a connection. */
export interface LiveSettings {
  model?: string;
  language?: string;
  prompt?: string;
  /** Sample rate in Hz. */
  rate: number;
  /** Without rules the client ends turns itself. */
  turns: TurnRules | undefined;
  logprobs: boolean;
}

const defaultTurns: TurnRules = { threshold: 0.5, prefixMs: 300, silenceMs: 500 };
/** Settings of a new connection. */
export const defaultSettings: LiveSettings = { rate: 24_000, turns: defaultTurns, logprobs: false };

const { language, prompt } = transcriptionParametersSchema.shape;
const withoutTranscription = 'must be an object: sessions without transcription are not served';
const transcription = z
  .looseObject(
    {
      model: z.string().max(1_000).nullish(),
      language: language.nullable(),
      prompt: prompt.nullable(),
    },
    withoutTranscription,
  )
  .nullable()
  // Here null does not mean "not set": it turns transcription off.
  .refine((spec) => spec !== null, withoutTranscription);
const turnDetection = z.looseObject({
  type: z.literal('server_vad', 'must be server_vad, or null for no detection').optional(),
  threshold: z.number().min(0).max(1).optional(),
  prefix_padding_ms: z.int().min(0).max(5_000).optional(),
  silence_duration_ms: z.int().min(100).max(10_000).optional(),
});
const include = z.array(z.enum(['item.input_audio_transcription.logprobs']));
const common = { transcription: transcription.optional(), turn_detection: turnDetection.nullish() };

const sessionSchema = z.looseObject({
  type: z.literal('transcription', 'must be transcription: conversations by voice are not served'),
  audio: z
    .looseObject({
      input: z
        .looseObject({
          ...common,
          format: z
            .looseObject({
              type: z.literal('audio/pcm', 'must be audio/pcm: 16 bits, little endian, one channel'),
              rate: z.int().min(8_000).max(48_000).optional(),
            })
            .nullish(),
        })
        .optional(),
    })
    .optional(),
  include: include.nullish(),
});

const betaSchema = z.looseObject({
  input_audio_format: z.literal('pcm16', 'must be pcm16').nullish(),
  input_audio_transcription: common.transcription,
  turn_detection: common.turn_detection,
  include: include.nullish(),
});

/**
 * Applies an update. Missing fields keep their values, also in nested objects. Null removes a field, but does not
 * change the format. Turn detection that was off starts with the default rules. `ignored`: paths of fields without
 * effect. Errors: invalid_request with the field's path.
 */
export function updatedSettings(
  before: LiveSettings,
  session: unknown,
  dialect: Dialect,
): { settings: LiveSettings; ignored: string[] } {
  const given = dialect === 'ga' ? readSession(session) : readBetaSession(session);
  const { format, transcription: spec, turn_detection: turns, include: wanted, ignored } = given;
  return {
    settings: {
      ...before,
      ...(format?.rate !== undefined && { rate: format.rate }),
      // In the session object an empty string means absent.
      ...(spec?.model !== undefined && { model: spec.model || undefined }),
      ...(spec?.language !== undefined && { language: spec.language ?? undefined }),
      ...(spec?.prompt !== undefined && { prompt: spec.prompt || undefined }),
      ...(turns !== undefined && { turns: turns ? turnRules(turns, before.turns) : undefined }),
      ...(wanted !== undefined && { logprobs: (wanted?.length ?? 0) > 0 }),
    },
    ignored,
  };
}

function readSession(session: unknown) {
  const { session: given } = parseOrThrow(z.object({ session: sessionSchema }), { session });
  const { format, transcription: spec, turn_detection } = given.audio?.input ?? {};
  return {
    format,
    transcription: spec,
    turn_detection,
    include: given.include,
    ignored: unknownFields(sessionSchema, given),
  };
}

function readBetaSession(session: unknown) {
  const { session: given } = parseOrThrow(z.object({ session: betaSchema }), { session });
  return {
    format: given.input_audio_format ? { rate: defaultSettings.rate } : undefined,
    transcription: given.input_audio_transcription,
    turn_detection: given.turn_detection,
    include: given.include,
    ignored: unknownFields(betaSchema, given),
  };
}

function turnRules(given: z.output<typeof turnDetection>, before = defaultTurns): TurnRules {
  return {
    threshold: given.threshold ?? before.threshold,
    prefixMs: given.prefix_padding_ms ?? before.prefixMs,
    silenceMs: given.silence_duration_ms ?? before.silenceMs,
  };
}

/** The session object for the client. */
export function sessionObject(
  id: string,
  settings: LiveSettings,
  dialect: Dialect,
  expiresAt: number,
): object {
  const { model = '', language: spoken = null, prompt: hint = '', rate, turns, logprobs } = settings;
  const spec = { model, language: spoken, prompt: hint };
  const detection = turns && {
    type: 'server_vad',
    threshold: turns.threshold,
    prefix_padding_ms: turns.prefixMs,
    silence_duration_ms: turns.silenceMs,
  };
  const shared = {
    id,
    object: 'realtime.transcription_session',
    expires_at: Math.floor(expiresAt / 1000),
    include: logprobs ? ['item.input_audio_transcription.logprobs'] : null,
  };
  if (dialect === 'beta')
    return {
      ...shared,
      input_audio_format: 'pcm16',
      input_audio_transcription: spec,
      turn_detection: detection ?? null,
      input_audio_noise_reduction: null,
    };
  const input = { format: { type: 'audio/pcm', rate }, transcription: spec, noise_reduction: null };
  return {
    ...shared,
    type: 'transcription',
    audio: { input: { ...input, turn_detection: detection ?? null } },
  };
}

const querySchema = z.looseObject({
  intent: z.unknown().optional(),
  model: z.string().max(1_000).optional(),
});

/**
 * Returns the model of a connection's query. Clients that cannot send an `intent` send a model instead; with an
 * intent, the model is for a conversation and does not affect transcription. Errors: invalid_request for
 * another intent.
 */
export function queriedModel(query: unknown): string | undefined {
  const { intent, model } = parseOrThrow(querySchema, query);
  if (intent === 'transcription') return undefined;
  if (intent === undefined) return model;
  throw invalidField('intent', 'must be transcription; voice conversations are not supported');
}
