import { parseOrThrow, transcriptionParametersSchema, invalidField } from '#contracts';
import { z } from 'zod';
import type { TurnRules } from './audio-buffer.js';
import { unknownFields } from './unknown-fields.js';

/** The two spellings of OpenAI's Realtime API: of today, and of its beta, asked for by `OpenAI-Beta: realtime=v1`. */
export type Dialect = 'ga' | 'beta';

/** How a connection wants its audio heard. */
export interface LiveSettings {
  model?: string;
  language?: string;
  prompt?: string;
  /** Samples a second. */
  rate: number;
  /** Without them the client says where a turn ends. */
  turns: TurnRules | undefined;
  logprobs: boolean;
}

const usualTurns: TurnRules = { threshold: 0.5, prefixMs: 300, silenceMs: 500 };
export const usualSettings: LiveSettings = { rate: 24_000, turns: usualTurns, logprobs: false };

const { language, prompt } = transcriptionParametersSchema.shape;
const transcription = z.looseObject(
  {
    model: z.string().max(1_000).nullish(),
    language: language.nullable(),
    prompt: prompt.nullable(),
  },
  'must be an object: sessions without transcription are not served',
);
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
 * What an update says; what it does not mention stays, field by field in the objects of the session too. Null takes a
 * field away, but leaves the format as it is. Turn detection that was off begins with the usual rules. `ignored`: paths of fields that have no effect. Errors:
 * invalid_request with the field's path.
 */
export function updatedSettings(
  before: LiveSettings,
  session: unknown,
  dialect: Dialect,
): { settings: LiveSettings; ignored: string[] } {
  const given = dialect === 'ga' ? readSession(session) : readBetaSession(session);
  const { format, transcription: heard, turn_detection: turns, include: wanted, ignored } = given;
  return {
    settings: {
      ...before,
      ...(format?.rate !== undefined && { rate: format.rate }),
      // The session object says '' where there is none.
      ...(heard?.model !== undefined && { model: heard.model || undefined }),
      ...(heard?.language !== undefined && { language: heard.language ?? undefined }),
      ...(heard?.prompt !== undefined && { prompt: heard.prompt || undefined }),
      ...(turns !== undefined && { turns: turns ? turnRules(turns, before.turns) : undefined }),
      ...(wanted !== undefined && { logprobs: (wanted?.length ?? 0) > 0 }),
    },
    ignored,
  };
}

function readSession(session: unknown) {
  const { session: given } = parseOrThrow(z.object({ session: sessionSchema }), { session });
  const { format, transcription: heard, turn_detection } = given.audio?.input ?? {};
  return {
    format,
    transcription: heard,
    turn_detection,
    include: given.include,
    ignored: unknownFields(sessionSchema, given),
  };
}

function readBetaSession(session: unknown) {
  const { session: given } = parseOrThrow(z.object({ session: betaSchema }), { session });
  return {
    format: given.input_audio_format ? { rate: usualSettings.rate } : undefined,
    transcription: given.input_audio_transcription,
    turn_detection: given.turn_detection,
    include: given.include,
    ignored: unknownFields(betaSchema, given),
  };
}

function turnRules(given: z.output<typeof turnDetection>, before = usualTurns): TurnRules {
  return {
    threshold: given.threshold ?? before.threshold,
    prefixMs: given.prefix_padding_ms ?? before.prefixMs,
    silenceMs: given.silence_duration_ms ?? before.silenceMs,
  };
}

/** The session as it is told to the client. */
export function sessionObject(
  id: string,
  settings: LiveSettings,
  dialect: Dialect,
  expiresAt: number,
): object {
  const { model = '', language: spoken = null, prompt: hint = '', rate, turns, logprobs } = settings;
  const heard = { model, language: spoken, prompt: hint };
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
      input_audio_transcription: heard,
      turn_detection: detection ?? null,
      input_audio_noise_reduction: null,
    };
  const input = { format: { type: 'audio/pcm', rate }, transcription: heard, noise_reduction: null };
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
 * The model that a connection asks to be heard by. Clients that cannot send an `intent` send a model, which says as much;
 * beside the intent the model is that of a conversation, and has no part in transcription.
 * Errors: invalid_request for another intent.
 */
export function queriedModel(query: unknown): string | undefined {
  const { intent, model } = parseOrThrow(querySchema, query);
  if (intent === 'transcription') return undefined;
  if (intent === undefined) return model;
  throw invalidField('intent', 'must be transcription; conversations by voice are not served');
}
