import type { DecoderShape } from './decoder-config.js';
import type { DecoderLayerWeights, DecoderWeights } from './decoder-weights.js';
import { lookUp, type LinearMode, LinearLayers } from '../quantization/linear.js';
import { GraphBuilder, microsoft, type IntegerKernel } from '../onnx/graph-builder.js';
import type { LinearWeights } from '../checkpoint/weights.js';
import type { Matrix } from '../checkpoint/matrix.js';
import type { Graph } from '../onnx/onnx-file.js';

/**
 * Projections of a layer's input before rotation: `[batch, tokens, heads × headDim]`; keys and values have kvHeads.
 */
export interface Projections {
  readonly queries: string;
  readonly keys: string;
  readonly values: string;
}

/** Writes the attention of a decoder graph; the serving graph and the exporters' graph differ only here. */
export interface AttentionWriter {
  /** Writes the attention of one layer → `[batch, tokens, heads × headDim]`. Layers come in order, each once. */
  attend(layer: number, projections: Projections): string;
  /** Selects from the final `[batch, tokens, hidden]` the rows whose logits are requested. */
  selectRows(hiddenState: string): string;
  /** Declares the logits and the new cache values as outputs. */
  declareOutputs(logits: string): void;
}

/** Options of {@link buildDecoderGraph}. */
export interface DecoderGraphOptions {
  readonly linear: LinearMode;
  readonly kernel: IntegerKernel;
  /** Creates the attention for int64 `input_ids` `[batch, tokens]`. */
  readonly attention: (graph: GraphBuilder, shape: DecoderShape, inputIds: string) => AttentionWriter;
}

/** Writes the graph of a decoder with Llama's architecture around the given attention. */
export function buildDecoderGraph(
  shape: DecoderShape,
  weights: DecoderWeights,
  options: DecoderGraphOptions,
): Graph {
  return new DecoderGraphWriter(shape, weights, options).write();
}

class DecoderGraphWriter {
  private readonly graph: GraphBuilder;
  private readonly linear: LinearLayers;
  /** Queries, keys and values suffer most from 4 bits, and are a small part of a model: they have 8. */
  private readonly attentionInput: LinearLayers;
  /** The output layer has int8 weights at least. */
  private readonly output: LinearLayers;

  constructor(
    private readonly shape: DecoderShape,
    private readonly weights: DecoderWeights,
    private readonly options: DecoderGraphOptions,
  ) {
    this.graph = new GraphBuilder(options.kernel);
    this.linear = new LinearLayers(this.graph, options.linear);
    const { linear } = options;
    const isBlocks = typeof linear === 'object';
    this.attentionInput = isBlocks
      ? new LinearLayers(this.graph, { ...linear, bits: 8, zeroPoints: false })
      : this.linear;
    this.output = isBlocks ? new LinearLayers(this.graph, 'int8-row') : this.linear;
  }

  write(): Graph {
    const { graph, shape, weights, options } = this;
    const inputIds = graph.input('input_ids', 'int64', ['batch', 'tokens']);
    const attention = options.attention(graph, shape, inputIds);
    let state = this.scaled(
      lookUp(graph, weights.embedding(), inputIds, options.linear),
      shape.embeddingFactor,
    );
    for (let index = 0; index < shape.layers; index++)
      state = this.layer(index, state, weights.layer(index), attention);
    const normed = this.norm(attention.selectRows(state), weights.finalNorm());
    const logits = this.scaled(this.output.multiply(normed, weights.languageModelHead()), shape.logitsFactor);
    attention.declareOutputs(graph.op('Identity', [logits], { output: 'logits' }));
    return graph.build('decoder');
  }

  private layer(
    index: number,
    state: string,
    weights: DecoderLayerWeights,
    attention: AttentionWriter,
  ): string {
    const { graph } = this;
    const attended = attention.attend(index, this.projections(state, weights));
    const { residualFactor } = this.shape;
    const given = this.outputNorm(this.project(attended, weights.output), weights.attentionOutputNorm);
    const added = this.scaled(given, residualFactor);
    const middle = graph.op('Add', [state, added]);
    const inner = this.feedForward(this.norm(middle, weights.feedForwardNorm), weights);
    const forwarded = this.outputNorm(inner, weights.feedForwardOutputNorm);
    return graph.op('Add', [middle, this.scaled(forwarded, residualFactor)]);
  }

  private projections(state: string, weights: DecoderLayerWeights): Projections {
    const { heads, kvHeads, headDim } = this.shape;
    const joint = this.project(
      this.norm(state, weights.attentionNorm),
      weights.queryKeyValue,
      this.attentionInput,
    );
    const sizes = [heads * headDim, kvHeads * headDim, kvHeads * headDim];
    const [query = '', key = '', values = ''] = this.graph.split(joint, sizes, 2);
    const queries = this.headNorm(query, heads, weights.queryNorm);
    return { queries, keys: this.headNorm(key, kvHeads, weights.keyNorm), values };
  }

  private feedForward(input: string, weights: DecoderLayerWeights): string {
    const { graph } = this;
    const { feedForward } = this.shape;
    const joint = this.project(input, weights.gateUp);
    const [gate = '', up = ''] = graph.split(joint, [feedForward, feedForward], 2);
    const activated = this.shape.isGemma
      ? graph.op('FastGelu', [gate], { domain: microsoft })
      : graph.op('Mul', [gate, graph.op('Sigmoid', [gate])]);
    return this.project(graph.op('Mul', [activated, up]), weights.down);
  }

  private scaled(value: string, factor = 1): string {
    return factor === 1 ? value : this.graph.op('Mul', [value, this.graph.float(factor)]);
  }

  private project(input: string, { weight, bias }: LinearWeights, layers = this.linear): string {
    const constant = bias && this.vector(bias);
    return layers.multiply(input, weight, constant);
  }

  private norm(value: string, weight: Matrix): string {
    return this.graph.op('SimplifiedLayerNormalization', [value, this.normWeight(weight)], {
      attributes: { axis: -1, epsilon: { float: this.shape.normEpsilon } },
    });
  }

  /** Qwen3 normalizes each head of queries and keys; for other models this returns the value unchanged. */
  private headNorm(value: string, heads: number, weight: Matrix | undefined): string {
    if (!weight) return value;
    const { graph } = this;
    const { headDim } = this.shape;
    const split = graph.op('Reshape', [value, graph.int64([0, 0, heads, headDim])]);
    return graph.op('Reshape', [this.norm(split, weight), graph.int64([0, 0, heads * headDim])]);
  }

  private outputNorm(value: string, weight: Matrix | undefined): string {
    return weight ? this.norm(value, weight) : value;
  }

  private normWeight(weight: Matrix): string {
    if (!this.shape.isGemma) return this.vector(weight);
    const read = async () => (await weight.read()).map((value) => 1 + value);
    return this.graph.constant(`${weight.name}.shifted`, 'float32', [weight.rows], read);
  }

  private vector(weight: Matrix): string {
    return this.graph.constant(weight.name, 'float32', [weight.rows], () => weight.read());
  }
}
