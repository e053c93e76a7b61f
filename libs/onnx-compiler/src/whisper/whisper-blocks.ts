import { activations } from '../encoder/encoder-config.js';
import type { NormWeights } from '../encoder/encoder-weights.js';
import type { GraphBuilder } from '../onnx/graph-builder.js';
import type { LinearLayers } from '../quantization/linear.js';
import type { LinearWeights } from '../checkpoint/weights.js';
import type { Matrix } from '../checkpoint/matrix.js';
import type { WhisperShape } from './whisper-config.js';
import type { WhisperLayerWeights } from './whisper-weights.js';

/** Building blocks of the layers of both stacks, in the serving and the exported graphs. */
export class WhisperBlocks {
  constructor(
    readonly graph: GraphBuilder,
    private readonly linear: LinearLayers,
    readonly shape: WhisperShape,
  ) {}

  project(input: string, { weight, bias }: LinearWeights): string {
    return this.linear.multiply(input, weight, bias && this.vector(bias));
  }

  norm(value: string, { scale, offset }: NormWeights): string {
    return this.graph.op('LayerNormalization', [value, this.vector(scale), this.vector(offset)], {
      attributes: { axis: -1, epsilon: { float: 1e-5 } },
    });
  }

  /** Query, key and value of a layer's own positions after normalization, side by side: `[B, S, 3 × hidden]`. */
  jointProjection(state: string, { attentionNorm, queryKeyValue }: WhisperLayerWeights): string {
    return this.project(this.norm(state, attentionNorm), queryKeyValue);
  }

  /** The same apart, each `[B, S, hidden]`. */
  selfProjections(state: string, weights: WhisperLayerWeights): string[] {
    const { hiddenSize } = this.shape;
    const joint = this.jointProjection(state, weights);
    return this.graph.split(joint, [hiddenSize, hiddenSize, hiddenSize], 2);
  }

  feedForward(state: string, { feedForwardNorm, up, down }: WhisperLayerWeights): string {
    const { graph } = this;
    const inner = this.activated(this.project(this.norm(state, feedForwardNorm), up));
    return graph.op('Add', [state, this.project(inner, down)]);
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

  vector(weight: Matrix): string {
    return this.graph.constant(weight.name, 'float32', [weight.rows], () => weight.read());
  }
}
