import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { type Activation, activations } from '../encoder/encoder-config.js';
import { UnsupportedModelError } from '../unsupported-model.error.js';

/** One of the two layer stacks of a Whisper model. */
export interface WhisperStack {
  readonly layers: number;
  readonly heads: number;
}

/** The parts of a Whisper model's config.json that determine its graphs. */
export interface WhisperShape {
  /** Mel bands of a frame. */
  readonly bands: number;
  /** Encoder states per audio window; the encoder takes twice as many frames. */
  readonly sourcePositions: number;
  /** Maximum tokens of a transcript, including its prompt. */
  readonly targetPositions: number;
  readonly hiddenSize: number;
  readonly encoder: WhisperStack;
  readonly decoder: WhisperStack;
  readonly vocabularySize: number;
  readonly activation: Activation;
}

const size = z.int().positive();
const configSchema = z.looseObject({
  model_type: z.literal('whisper'),
  num_mel_bins: size,
  max_source_positions: size,
  max_target_positions: size,
  d_model: size,
  encoder_layers: size,
  encoder_attention_heads: size,
  decoder_layers: size,
  decoder_attention_heads: size,
  vocab_size: size,
  activation_function: z.enum(Object.keys(activations) as [Activation]).default('gelu'),
  scale_embedding: z.literal(false).default(false),
  quantization_config: z.undefined().optional(),
});

/** Reads the config.json of a Whisper model. Errors: UnsupportedModelError for any other model. */
export async function readWhisperShape(modelDirectory: string): Promise<WhisperShape> {
  const content: unknown = JSON.parse(await readFile(join(modelDirectory, 'config.json'), 'utf8'));
  const parsed = configSchema.safeParse(content);
  if (!parsed.success)
    throw new UnsupportedModelError(
      `a Whisper config.json whose ${parsed.error.issues[0]?.path.join('.')} is missing or invalid`,
      modelDirectory,
    );
  const config = parsed.data;
  if (config.d_model % config.encoder_attention_heads || config.d_model % config.decoder_attention_heads)
    throw new UnsupportedModelError('heads that do not divide d_model', modelDirectory);
  return {
    bands: config.num_mel_bins,
    sourcePositions: config.max_source_positions,
    targetPositions: config.max_target_positions,
    hiddenSize: config.d_model,
    encoder: { layers: config.encoder_layers, heads: config.encoder_attention_heads },
    decoder: { layers: config.decoder_layers, heads: config.decoder_attention_heads },
    vocabularySize: config.vocab_size,
    activation: config.activation_function,
  };
}
