import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { UnsupportedModelError } from '../unsupported-model.error.js';

/** The parts of a speech model's config.json that determine its graph. */
export interface SpeechShape {
  /** Mel bands of a frame. */
  readonly bands: number;
  /**
   * Number of frames that are concatenated before the first and before the second layer of the stem; their product
   * is the step.
   */
  readonly stack: readonly [number, number];
  readonly hiddenSize: number;
  /** Dilation of each block: the distance to its neighbor frames. */
  readonly dilations: readonly number[];
  readonly vocabularySize: number;
  readonly blankTokenId: number;
  readonly normEpsilon: number;
}

const configSchema = z.looseObject({
  model_type: z.string(),
  n_mels: z.int().positive(),
  stack: z.tuple([z.int().positive(), z.int().positive()]),
  hidden_size: z.int().positive(),
  dilations: z.array(z.int().positive()).min(1),
  vocab_size: z.int().positive(),
  blank_token_id: z.int().min(0),
  layer_norm_eps: z.number().positive().default(1e-5),
});

/** Reads the config.json of a `nano-ctc` model. Errors: UnsupportedModelError for any other model. */
export async function readSpeechShape(modelDirectory: string): Promise<SpeechShape> {
  const content: unknown = JSON.parse(await readFile(join(modelDirectory, 'config.json'), 'utf8'));
  const { model_type: type } = z.looseObject({ model_type: z.unknown() }).parse(content);
  if (type !== 'nano-ctc')
    throw new UnsupportedModelError(`model_type ${JSON.stringify(type)}`, modelDirectory);
  const parsed = configSchema.safeParse(content);
  if (!parsed.success)
    throw new UnsupportedModelError(
      `a config.json whose ${parsed.error.issues[0]?.path.join('.')} is missing or invalid`,
      modelDirectory,
    );
  const config = parsed.data;
  return {
    bands: config.n_mels,
    stack: config.stack,
    hiddenSize: config.hidden_size,
    dilations: config.dilations,
    vocabularySize: config.vocab_size,
    blankTokenId: config.blank_token_id,
    normEpsilon: config.layer_norm_eps,
  };
}
