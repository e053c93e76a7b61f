import { z } from 'zod';
import { readJson, readOptionalJson, ModelLoadError } from '#engine/models';

const ids = z
  .array(z.int())
  .nullish()
  .transform((values) => values ?? []);
const optionalId = z.int().nullish();

const generationSchema = z.looseObject({
  decoder_start_token_id: optionalId,
  eos_token_id: z
    .union([z.int(), z.array(z.int())])
    .nullish()
    .transform((value) => [value ?? []].flat()[0]),
  no_timestamps_token_id: optionalId,
  prev_sot_token_id: optionalId,
  lang_to_id: z.record(z.string(), z.int()).default({}),
  task_to_id: z.record(z.string(), z.int()).default({}),
  suppress_tokens: ids,
  begin_suppress_tokens: ids,
  /** In steps of 20 ms. */
  max_initial_timestamp_index: z.int().nullable().default(50),
  alignment_heads: z
    .array(z.tuple([z.int().min(0), z.int().min(0)]))
    .nullish()
    .transform((heads) => heads ?? []),
});

const preprocessorSchema = z.looseObject({
  feature_size: z.int().positive().default(80),
  sampling_rate: z.int().positive().default(16_000),
  hop_length: z.int().positive().default(160),
  n_fft: z.int().positive().multipleOf(2).default(400),
});

const tokenizerSchema = z.looseObject({
  added_tokens: z.array(z.looseObject({ id: z.int(), content: z.string() })).default([]),
});

/** Audio settings of a model. */
export type WhisperAudioSettings = z.output<typeof preprocessorSchema>;

/** Settings in the files of a Whisper model. */
export interface WhisperSettings {
  readonly audio: WhisperAudioSettings;
  /** Ids of the special tokens. */
  readonly marks: {
    readonly start: number;
    readonly end: number;
    readonly noTimestamps: number;
    /** The token of 0.00 seconds; each further id is 20 ms more. */
    readonly firstTimestamp: number;
    readonly noSpeech?: number;
    /** Token before the preceding text. */
    readonly previous?: number;
  };
  /** Tokens by ISO 639-1 code; empty for a model of one language. */
  readonly languages: ReadonlyMap<string, number>;
  /** Tokens of `transcribe` and `translate`; empty for a model of one language. */
  readonly tasks: ReadonlyMap<string, number>;
  readonly suppressed: readonly number[];
  readonly suppressedAtBegin: readonly number[];
  /** Maximum start of the first segment, in steps of 20 ms; undefined: anywhere. */
  readonly maxInitialTimestamp: number | undefined;
  readonly alignmentHeads: readonly (readonly [layer: number, head: number])[];
}

/** Reads generation_config.json, preprocessor_config.json and tokenizer.json. Errors: ModelLoadError. */
export async function readWhisperSettings(directory: string): Promise<WhisperSettings> {
  const generation =
    (await readOptionalJson(directory, 'generation_config.json', generationSchema)) ??
    generationSchema.parse({});
  const { added_tokens: added } = await readJson(directory, 'tokenizer.json', tokenizerSchema);
  const byName = new Map(added.map(({ content, id }) => [content, id]));
  const needed = (given: number | null | undefined, name: string): number => {
    const id = given ?? byName.get(name);
    if (id === undefined) throw new ModelLoadError(`${directory}/tokenizer.json has no token ${name}.`);
    return id;
  };
  const noTimestamps = needed(generation.no_timestamps_token_id, '<|notimestamps|>');
  return {
    audio: await readJson(directory, 'preprocessor_config.json', preprocessorSchema),
    marks: {
      start: needed(generation.decoder_start_token_id, '<|startoftranscript|>'),
      end: needed(generation.eos_token_id, '<|endoftext|>'),
      noTimestamps,
      firstTimestamp: noTimestamps + 1,
      noSpeech: byName.get('<|nospeech|>') ?? byName.get('<|nocaptions|>'),
      previous: generation.prev_sot_token_id ?? byName.get('<|startofprev|>'),
    },
    languages: new Map(
      Object.entries(generation.lang_to_id).map(([name, id]) => [name.replace(/^<\||\|>$/g, ''), id]),
    ),
    tasks: new Map(Object.entries(generation.task_to_id)),
    suppressed: generation.suppress_tokens.filter((id) => id >= 0),
    suppressedAtBegin: generation.begin_suppress_tokens,
    maxInitialTimestamp: generation.max_initial_timestamp_index ?? undefined,
    alignmentHeads: generation.alignment_heads,
  };
}
