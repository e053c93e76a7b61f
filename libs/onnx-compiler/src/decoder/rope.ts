import { z } from 'zod';

/** Frequency rules of rotary embeddings that the compiler knows. `dynamic` equals `default` inside the original context. */
export const ropeScalingSchema = z.discriminatedUnion('rope_type', [
  z.object({ rope_type: z.literal('default') }),
  z.object({ rope_type: z.literal('linear'), factor: z.number().positive() }),
  z.object({ rope_type: z.literal('dynamic'), factor: z.number().positive() }),
  z.object({
    rope_type: z.literal('llama3'),
    factor: z.number().positive(),
    low_freq_factor: z.number().positive(),
    high_freq_factor: z.number().positive(),
    original_max_position_embeddings: z.int().positive(),
  }),
]);
export type RopeScaling = z.infer<typeof ropeScalingSchema>;

export interface RotaryEmbedding {
  readonly theta: number;
  readonly scaling: RopeScaling;
}

/** Angles per position of each pair of dimensions: `[headDim / 2]`, scaled as the model was trained. */
export function inverseFrequencies(headDim: number, rope: RotaryEmbedding): Float64Array {
  return Float64Array.from({ length: headDim / 2 }, (_, pair) =>
    scaleFrequency(rope.theta ** ((-2 * pair) / headDim), rope.scaling),
  );
}

function scaleFrequency(frequency: number, scaling: RopeScaling): number {
  if (scaling.rope_type === 'linear') return frequency / scaling.factor;
  if (scaling.rope_type !== 'llama3') return frequency;
  const { factor, low_freq_factor: low, high_freq_factor: high } = scaling;
  const turns = (scaling.original_max_position_embeddings * frequency) / (2 * Math.PI);
  if (turns > high) return frequency;
  if (turns < low) return frequency / factor;
  const smooth = (turns - low) / (high - low);
  return ((1 - smooth) * frequency) / factor + smooth * frequency;
}

/** Cosines or sines of all positions, `[positions, headDim / 2]`, computed in double precision. */
export function rotaryTable(
  wave: (angle: number) => number,
  positions: number,
  frequencies: Float64Array,
): Float32Array {
  const pairs = frequencies.length;
  const table = new Float32Array(positions * pairs);
  for (let position = 0; position < positions; position++)
    for (let pair = 0; pair < pairs; pair++)
      table[position * pairs + pair] = wave(position * frequencies[pair]!);
  return table;
}
