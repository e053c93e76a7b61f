import type { DecoderShape } from './decoder-config.js';
import { type GraphBuilder, microsoft } from '../onnx/graph-builder.js';
import { inverseFrequencies, rotaryTable } from './rope.js';

/** Cosines and sines of every position as constants of the graph, `[contextLength, headDim / 2]`. */
export class RotaryTables {
  private readonly cosines: string;
  private readonly sines: string;

  constructor(
    private readonly graph: GraphBuilder,
    { headDim, contextLength, rope }: Pick<DecoderShape, 'headDim' | 'contextLength' | 'rope'>,
  ) {
    const frequencies = inverseFrequencies(headDim, rope);
    const table = (name: string, wave: (angle: number) => number): string =>
      graph.constant(name, 'float32', [contextLength, headDim / 2], () =>
        rotaryTable(wave, contextLength, frequencies),
      );
    this.cosines = table('rotary.cosines', Math.cos);
    this.sines = table('rotary.sines', Math.sin);
  }

  /** Rotates `[batch, tokens, heads × headDim]` by int64 positions `[batch, tokens]`. */
  rotate(value: string, positions: string, heads: number): string {
    return this.graph.op('RotaryEmbedding', [value, positions, this.cosines, this.sines], {
      domain: microsoft,
      attributes: { num_heads: heads },
    });
  }
}
