import type { NormWeights } from '../checkpoint/matrix.js';
import { activations } from '../encoder/encoder-config.js';
import { GraphBuilder, microsoft, type IntegerKernel } from '../onnx/graph-builder.js';
import type { Graph } from '../onnx/onnx-file.js';
import { LinearLayers, type LinearMode } from '../quantization/linear.js';
import type { WhisperShape, WhisperLayerWeights, WhisperWeights } from './whisper-model.js';

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

  /** Query, key and value of a layer's own positions after normalization, concatenated: `[B, S, 3 × hidden]`. */
  jointProjection(state: string, { attentionNorm, queryKeyValue }: WhisperLayerWeights): string {
    return this.linear.project(this.norm(state, attentionNorm), queryKeyValue);
  }

  /** Query, key and value as separate values, each `[B, S, hidden]`. */
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

/** Options of the Whisper graphs. */
export interface WhisperGraphOptions {
  readonly linear: LinearMode;
  readonly kernel: IntegerKernel;
}

/**
 * Writes the encoder's graph. `serving` returns the decoder's cross-attention keys and values of each layer
 * (CompiledWhisper); `exporter` returns `last_hidden_state` and writes attention as separate operators, as
 * exporters do.
 */
export class WhisperEncoderWriter {
  private readonly graph: GraphBuilder;
  private readonly blocks: WhisperBlocks;

  constructor(
    private readonly shape: WhisperShape,
    private readonly weights: WhisperWeights,
    private readonly options: WhisperGraphOptions & { readonly form: 'serving' | 'exporter' },
  ) {
    this.graph = new GraphBuilder(options.kernel);
    this.blocks = new WhisperBlocks(this.graph, new LinearLayers(this.graph, options.linear), shape);
  }

  write(): Graph {
    const { graph, blocks, shape, weights } = this;
    const { bands, sourcePositions, encoder } = shape;
    const features = graph.input('input_features', 'float32', ['batch', bands, 2 * sourcePositions]);
    let state = this.embedded(features);
    for (let index = 0; index < encoder.layers; index++) {
      const layer = weights.encoderLayer(index);
      state = blocks.feedForward(this.attended(state, layer), layer);
    }
    const states = blocks.norm(state, weights.finalNorm('encoder'));
    if (this.options.form === 'serving') this.declareKeysAndValues(states);
    else {
      graph.op('Identity', [states], { output: 'last_hidden_state' });
      graph.output('last_hidden_state', 'float32', ['batch', sourcePositions, shape.hiddenSize]);
    }
    return graph.build('whisper-encoder');
  }

  /** Two convolutions over time, of which the second halves the length, and the position embeddings. */
  private embedded(features: string): string {
    const { graph, shape, weights } = this;
    const second = this.convolved(this.convolved(features, 1), 2);
    const transposed = graph.op('Transpose', [second], { attributes: { perm: [0, 2, 1] } });
    const table = weights.positions('encoder');
    const dims = [1, shape.sourcePositions, shape.hiddenSize];
    return graph.op('Add', [transposed, graph.constant(table.name, 'float32', dims, () => table.read())]);
  }

  private convolved(value: string, index: 1 | 2): string {
    const { graph, blocks } = this;
    const { weight, shape, bias } = this.weights.convolution(index);
    const kernel = graph.constant(weight.name, 'float32', shape, () => weight.read());
    const attributes = { kernel_shape: [3], strides: [index], pads: [1, 1] };
    return blocks.activated(graph.op('Conv', [value, kernel, graph.vector(bias)], { attributes }));
  }

  private attended(state: string, layer: WhisperLayerWeights): string {
    const { graph, blocks } = this;
    const [query = '', key = '', value = ''] = blocks.selfProjections(state, layer);
    const mixed =
      this.options.form === 'serving' ? this.fused(query, key, value) : this.separate(query, key, value);
    return graph.op('Add', [state, blocks.linear.project(mixed, layer.attentionOutput)]);
  }

  private fused(query: string, key: string, value: string): string {
    return this.graph.op('MultiHeadAttention', [query, key, value], {
      domain: microsoft,
      attributes: { num_heads: this.shape.encoder.heads, scale: { float: 1 } },
    });
  }

  private separate(query: string, key: string, value: string): string {
    const { graph, blocks } = this;
    const [queries, keys, values] = [query, key, value].map((part) =>
      blocks.splitHeads(part, this.shape.encoder.heads),
    ) as [string, string, string];
    const transposed = graph.op('Transpose', [keys], { attributes: { perm: [0, 1, 3, 2] } });
    const attention = graph.op('Softmax', [graph.op('MatMul', [queries, transposed])], {
      attributes: { axis: -1 },
    });
    return blocks.mergeHeads(graph.op('MatMul', [attention, values]));
  }

  /**
   * One product computes the keys and values of all layers: `cross.{layer}.key` and `.value`, `[B, heads, T,
   * headDim]`.
   */
  private declareKeysAndValues(states: string): void {
    const { graph, blocks, shape, weights } = this;
    const { layers, heads } = shape.decoder;
    const joint = blocks.linear.project(states, weights.crossKeyValue([...Array(layers).keys()]));
    const parts = graph.split(joint, Array<number>(2 * layers).fill(shape.hiddenSize), 2);
    for (const [index, part] of parts.entries()) {
      const name = `cross.${index >> 1}.${index % 2 ? 'value' : 'key'}`;
      graph.op('Identity', [blocks.splitHeads(part, heads)], { output: name });
      const dims = ['batch', heads, shape.sourcePositions, shape.hiddenSize / heads];
      graph.output(name, 'float32', dims);
    }
  }
}
