import { activations } from '../encoder/encoder-config.js';
import type { GraphBuilder } from '../onnx/graph-builder.js';
import type { LinearLayers } from '../quantization/linear.js';
import type { NormWeights } from '../checkpoint/matrix.js';
import type { WhisperShape } from './whisper-config.js';
import type { WhisperLayerWeights } from './whisper-weights.js';

/** Building blocks of the layers of both stacks, in the serving and the exported graphs. */
export class WhisperBlocks {
  constructor(
    readonly graph: GraphBuilder,
    readonly linear: LinearLayers,
    readonly shape: WhisperShape,
  ) {}

  norm(value: string, weights: NormWeights): string {
    return this.graph.layerNorm(value, weights, 1e-5);
  }

  /** Query, key and value of a layer's own positions after normalization, side by side: `[B, S, 3 × hidden]`. */
  jointProjection(state: string, { attentionNorm, queryKeyValue }: WhisperLayerWeights): string {
    return this.linear.project(this.norm(state, attentionNorm), queryKeyValue);
  }

  /** The same apart, each `[B, S, hidden]`. */
  selfProjections(state: string, weights: WhisperLayerWeights): string[] {
    const { hiddenSize } = this.shape;
    const joint = this.jointProjection(state, weights);
    return this.graph.split(joint, [hiddenSize, hiddenSize, hiddenSize], 2);
  }

  feedForward(state: string, { feedForwardNorm, up, down }: WhisperLayerWeights): string {
    const { graph } = this;
    const inner = this.activated(this.linear.project(this.norm(state, feedForwardNorm), up));
    return graph.op('Add', [state, this.linear.project(inner, down)]);
  }

  activated(value: string): string {
    const { operator, domain } = activations[this.shape.activation];
    return this.graph.op(operator, [value], { domain });
  }

  /** `[B, S, hidden]` → `[B, heads, S, headDim]`. */
  splitHeads(value: string, heads: number): string {
    const { graph, shape } = this;
    const split = graph.op('Reshape', [value, graph.int64([0, 0, heads, shape.hiddenSize / heads])]);
    return graph.op('Transpose', [split], { attributes: { perm: [0, 2, 1, 3] } });
  }

  /** `[B, heads, S, headDim]` → `[B, S, hidden]`. */
  mergeHeads(value: string): string {
    const { graph, shape } = this;
    const merged = graph.op('Transpose', [value], { attributes: { perm: [0, 2, 1, 3] } });
    return graph.op('Reshape', [merged, graph.int64([0, 0, shape.hiddenSize])]);
  }
}
