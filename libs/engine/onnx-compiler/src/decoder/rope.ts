import { z } from 'zod';
import { type GraphBuilder, microsoft } from '../onnx/graph-builder.js';

/** Supported frequency rules of rotary embeddings. `dynamic` equals `default` within the original context. */
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

/** Parameters of a rotary position embedding. */
export interface RotaryEmbedding {
  readonly theta: number;
  readonly scaling: RopeScaling;
}

/** Returns the angle per position of each pair of dimensions, `[headDim / 2]`, with the model's scaling. */
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

/** Returns cosines or sines of all positions, `[positions, headDim / 2]`, computed in double precision. */
function rotaryTable(
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

/** Cosines and sines of every position as constants of the graph, `[contextLength, headDim / 2]`. */
export class RotaryTables {
  private readonly cosines: string;
  private readonly sines: string;

  constructor(
    private readonly graph: GraphBuilder,
    { headDim, contextLength, rope }: { headDim: number; contextLength: number; rope: RotaryEmbedding },
    prefix = 'rotary',
  ) {
    const frequencies = inverseFrequencies(headDim, rope);
    const table = (name: string, wave: (angle: number) => number): string =>
      graph.constant(name, 'float32', [contextLength, headDim / 2], () =>
        rotaryTable(wave, contextLength, frequencies),
      );
    this.cosines = table(`${prefix}.cosines`, Math.cos);
    this.sines = table(`${prefix}.sines`, Math.sin);
  }

  /**
   * Rotates `[batch, tokens, heads × headDim]` by int64 positions `[batch, tokens]`, or by the position of the first
   * token, `[1]`.
   */
  rotate(value: string, positions: string, heads: number): string {
    return this.graph.op('RotaryEmbedding', [value, positions, this.cosines, this.sines], {
      domain: microsoft,
      attributes: { num_heads: heads },
    });
  }
}

/** The parts of a decoder's shape that rotations depend on. */
interface RotatedShape {
  readonly headDim: number;
  readonly contextLength: number;
  readonly rotatedLayers?: readonly boolean[];
  readonly window?: { readonly layers: readonly boolean[]; readonly rope?: RotaryEmbedding };
}

/** The tables of each layer; layers with a window may have their own. */
export class LayerRotaries {
  private readonly whole: RotaryTables;
  private readonly windowed: RotaryTables;

  constructor(
    graph: GraphBuilder,
    private readonly shape: RotatedShape,
    rope: RotaryEmbedding,
  ) {
    const { window } = shape;
    this.whole = new RotaryTables(graph, { ...shape, rope });
    this.windowed = window?.rope
      ? new RotaryTables(graph, { ...shape, rope: window.rope }, 'rotary.window')
      : this.whole;
  }

  /** Returns the value unchanged if the layer does not use positions. */
  rotate(layer: number, value: string, positions: string, heads: number): string {
    if (this.shape.rotatedLayers?.[layer] === false) return value;
    const tables = this.shape.window?.layers[layer] ? this.windowed : this.whole;
    return tables.rotate(value, positions, heads);
  }
}
