import { z } from 'zod';
import { ModelLoadError, readOptionalJson } from '#engine/models';
import type { FilterName } from './resize-picture.js';
import type { TileSettings } from './tile-picture.js';

/** How a model sees pictures: how they are cut, and how the values of pixels are normalized. */
export interface PictureSettings extends TileSettings {
  /** A value of 0 to 255 becomes `(value × rescale − mean) / deviation`, by channel. */
  readonly rescale: number;
  readonly mean: readonly [number, number, number];
  readonly deviation: readonly [number, number, number];
}

/** Pillow's numbers of filters. */
const filters = { 1: 'lanczos', 2: 'bilinear', 3: 'bicubic' } as const satisfies Record<number, FilterName>;

const channels = z.tuple([z.number(), z.number(), z.number()]);
const edgeSchema = z.looseObject({ longest_edge: z.int().positive() });
const processorSchema = z.looseObject({
  do_resize: z.boolean().default(true),
  size: edgeSchema.default({ longest_edge: 4 * 364 }),
  resample: z.literal([1, 2, 3]).default(1),
  do_image_splitting: z.boolean().default(true),
  max_image_size: edgeSchema.default({ longest_edge: 364 }),
  do_rescale: z.boolean().default(true),
  rescale_factor: z
    .number()
    .positive()
    .default(1 / 255),
  do_normalize: z.boolean().default(true),
  image_mean: channels.default([0.5, 0.5, 0.5]),
  image_std: channels.default([0.5, 0.5, 0.5]),
});

/**
 * Reads preprocessor_config.json, or the `image_processor` of processor_config.json, where newer models have it.
 * `tileSize`: side of the tiles that the vision tower takes. Errors: ModelLoadError.
 */
export async function readPictureSettings(directory: string, tileSize: number): Promise<PictureSettings> {
  const alone = await readOptionalJson(directory, 'preprocessor_config.json', processorSchema);
  const joint = z.looseObject({ image_processor: processorSchema.optional() });
  const processor =
    alone ?? (await readOptionalJson(directory, 'processor_config.json', joint))?.image_processor;
  if (!processor) throw new ModelLoadError(`${directory}/preprocessor_config.json is missing.`);
  const { max_image_size: tile, size, do_resize, do_rescale, do_normalize } = processor;
  if (tile.longest_edge !== tileSize) {
    const names = `max_image_size is ${tile.longest_edge}, but image_size of config.json is ${tileSize}`;
    throw new ModelLoadError(`${directory}: ${names}.`);
  }
  return {
    ...(do_resize && { longestEdge: size.longest_edge }),
    tileSize,
    filter: filters[processor.resample],
    splits: processor.do_image_splitting,
    rescale: do_rescale ? processor.rescale_factor : 1,
    mean: do_normalize ? processor.image_mean : [0, 0, 0],
    deviation: do_normalize ? processor.image_std : [1, 1, 1],
  };
}

/** Returns a tile `[side, side, 3]` as the vision tower takes it, normalized: `[3, side, side]`. */
export function normalizeTile(
  tile: Uint8Array,
  { rescale, mean, deviation }: Pick<PictureSettings, 'rescale' | 'mean' | 'deviation'>,
): Float32Array {
  const pixels = tile.length / 3;
  const values = new Float32Array(tile.length);
  for (const channel of [0, 1, 2] as const) {
    const table = Float32Array.from(
      { length: 256 },
      (_, value) => (value * rescale - mean[channel]) / deviation[channel],
    );
    for (let pixel = 0; pixel < pixels; pixel++)
      values[channel * pixels + pixel] = table[tile[pixel * 3 + channel]!]!;
  }
  return values;
}
