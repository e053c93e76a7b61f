import {
  fileDigest,
  hashFile,
  isVisionConfig,
  readDecoderShape,
  readEncoderShape,
  readSpeechShape,
  readTextConfig,
  readWhisperShape,
  UnsupportedModelError,
} from '#engine/onnx-compiler';
import { stat } from 'node:fs/promises';
import { z } from 'zod';
import { readJson, readOptionalJson } from './model-files.js';

const encoderConfigSchema = z.looseObject({
  model_type: z.string().default('unknown'),
  max_position_embeddings: z.int().optional(),
  vocab_size: z.int().optional(),
  pad_token_id: z.int().nullish(),
  /** `matches`: token types mark the words that a question and a passage share, as in nano-reader. */
  token_types: z.literal('matches').optional(),
});
export type EncoderConfig = z.infer<typeof encoderConfigSchema>;

/** Reads `config.json` of a BERT-like model. */
export function readEncoderConfig(directory: string): Promise<EncoderConfig> {
  return readJson(directory, 'config.json', encoderConfigSchema);
}

const tokenIds = z
  .union([z.int(), z.array(z.int())])
  .nullish()
  .transform((value) => [value ?? []].flat());

const decoderConfigSchema = z.looseObject({
  model_type: z.string(),
  vocab_size: z.int(),
  hidden_size: z.int(),
  num_hidden_layers: z.int(),
  num_attention_heads: z.int(),
  num_key_value_heads: z.int().optional(),
  head_dim: z.int().optional(),
  max_position_embeddings: z.int().default(2048),
  eos_token_id: tokenIds,
  image_token_id: z.int().optional(),
});

const generationConfigSchema = z.looseObject({
  do_sample: z.boolean().default(false),
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  top_k: z.number().nullish(),
  min_p: z.number().nullish(),
  repetition_penalty: z.number().nullish(),
  eos_token_id: tokenIds,
});

export interface DecoderConfig {
  readonly vocabularySize: number;
  readonly layers: number;
  readonly keyValueHeads: number;
  readonly headDimension: number;
  readonly contextLength: number;
  /** End-of-sequence tokens. */
  readonly endTokenIds: readonly number[];
  /** Sampling defaults of the model's authors; temperature 0 without `do_sample`. */
  readonly defaults: SamplingDefaults;
  /** The token for a part of an image; absent for a model that takes text alone. */
  readonly imageTokenId?: number;
}

export interface SamplingDefaults {
  readonly temperature: number;
  readonly top_p?: number;
  readonly top_k?: number;
  readonly min_p?: number;
  readonly repetition_penalty?: number;
}

/** Returns the part of a vision-language model's config.json that describes its text model; any other as it is. */
function textPart(stored: unknown, directory: string): unknown {
  if (!isVisionConfig(stored)) return stored;
  const { config, imageTokenId } = readTextConfig(stored, directory);
  const ends = (stored as { eos_token_id?: unknown }).eos_token_id ?? config['eos_token_id'];
  return { ...config, eos_token_id: ends, image_token_id: imageTokenId };
}

/** Reads `config.json` and `generation_config.json` of a decoder, or of a vision-language model. */
export async function readDecoderConfig(directory: string): Promise<DecoderConfig> {
  const schema = z.preprocess((stored) => textPart(stored, directory), decoderConfigSchema);
  const config = await readJson(directory, 'config.json', schema);
  const generation = await readOptionalJson(directory, 'generation_config.json', generationConfigSchema);
  return {
    vocabularySize: config.vocab_size,
    layers: config.num_hidden_layers,
    keyValueHeads: config.num_key_value_heads ?? config.num_attention_heads,
    headDimension: config.head_dim ?? config.hidden_size / config.num_attention_heads,
    contextLength: config.max_position_embeddings,
    endTokenIds: [...new Set([...config.eos_token_id, ...(generation?.eos_token_id ?? [])])],
    defaults: samplingDefaults(generation),
    ...(config.image_token_id !== undefined && { imageTokenId: config.image_token_id }),
  };
}

function samplingDefaults(generation: z.infer<typeof generationConfigSchema> | undefined): SamplingDefaults {
  const repetition_penalty = generation?.repetition_penalty ?? undefined;
  if (!generation?.do_sample) return { temperature: 0, repetition_penalty };
  return {
    temperature: generation.temperature ?? 1,
    top_p: generation.top_p ?? undefined,
    top_k: generation.top_k ?? undefined,
    min_p: generation.min_p ?? undefined,
    repetition_penalty,
  };
}

/** Returns true if the compiler supports the config.json of a decoder. */
export function canCompileDecoder(directory: string): Promise<boolean> {
  return isSupported(readDecoderShape(directory));
}

/** Returns true if the compiler supports the config.json of an encoder. */
export function canCompileEncoder(directory: string): Promise<boolean> {
  return isSupported(readEncoderShape(directory));
}

/** Returns true if the compiler supports the config.json of a speech model. */
export async function canCompileSpeech(directory: string): Promise<boolean> {
  return (await isSupported(readWhisperShape(directory))) || isSupported(readSpeechShape(directory));
}

async function isSupported(shape: Promise<unknown>): Promise<boolean> {
  try {
    await shape;
    return true;
  } catch (error) {
    if (error instanceof UnsupportedModelError) return false;
    throw error;
  }
}

/**
 * Returns the first 12 hex digits of the SHA-256 of the weights, and their date in Unix seconds. `cacheDir`: folder for
 * the hashes, so that a large file is read only once.
 */
export async function describeWeights(
  file: string,
  cacheDir?: string,
): Promise<{ revision: string; created: number }> {
  const sha256 = cacheDir === undefined ? await hashFile(file) : await fileDigest(file, cacheDir);
  const { mtimeMs } = await stat(file);
  return { revision: sha256.slice(0, 12), created: Math.floor(mtimeMs / 1000) };
}
