import type { Matrix } from '../checkpoint/matrix.js';
import type { SafetensorsReader } from '../checkpoint/safetensors.js';
import { type LinearWeights, linearWeights, matrix } from '../checkpoint/weights.js';
import { GraphBuilder, microsoft, type IntegerKernel } from '../onnx/graph-builder.js';
import type { Graph } from '../onnx/onnx-file.js';
import { lookUp, type LinearMode, LinearLayers } from '../quantization/linear.js';
import type { DecoderShape } from './decoder-config.js';

/** Weights of one decoder layer. */
interface DecoderLayerWeights {
  readonly attentionNorm: Matrix;
  /** Query, key and value stacked. */
  readonly queryKeyValue: LinearWeights;
  /** Qwen3: RMS norm of each query and key head. */
  readonly queryNorm?: Matrix;
  readonly keyNorm?: Matrix;
  readonly output: LinearWeights;
  /** Gemma: norms of the outputs of the blocks, before they are added. */
  readonly attentionOutputNorm?: Matrix;
  readonly feedForwardOutputNorm?: Matrix;
  readonly feedForwardNorm: Matrix;
  /** Gate and up stacked. */
  readonly gateUp: LinearWeights;
  readonly down: LinearWeights;
}

/** The tensors of a checkpoint with Llama's architecture, by role. */
export class DecoderWeights {
  constructor(
    private readonly reader: SafetensorsReader,
    private readonly shape: DecoderShape,
  ) {}

  /** `[vocabulary, hidden]`. Some checkpoints store a tied matrix under the output's name. */
  embedding(): Matrix {
    const name = 'model.embed_tokens.weight';
    return this.reader.has(name) || !this.shape.tiedEmbeddings
      ? this.tensor(name)
      : this.tensor('lm_head.weight');
  }

  /** `[vocabulary, hidden]` of the output layer. */
  languageModelHead(): Matrix {
    return this.shape.tiedEmbeddings ? this.embedding() : this.tensor('lm_head.weight');
  }

  finalNorm(): Matrix {
    return this.tensor('model.norm.weight');
  }

  layer(index: number): DecoderLayerWeights {
    const prefix = `model.layers.${index}`;
    const attention = `${prefix}.self_attn`;
    const projections = ['q_proj', 'k_proj', 'v_proj'].map((name) => `${attention}.${name}`);
    return {
      attentionNorm: this.tensor(`${prefix}.input_layernorm.weight`),
      queryKeyValue: this.stacked(`${attention}.qkv_proj`, projections),
      queryNorm: this.optional(`${attention}.q_norm.weight`),
      keyNorm: this.optional(`${attention}.k_norm.weight`),
      output: this.stacked(`${attention}.o_proj`, [`${attention}.o_proj`]),
      ...this.blockNorms(prefix),
      gateUp: this.stacked(`${prefix}.mlp.gate_up_proj`, [
        `${prefix}.mlp.gate_proj`,
        `${prefix}.mlp.up_proj`,
      ]),
      down: this.stacked(`${prefix}.mlp.down_proj`, [`${prefix}.mlp.down_proj`]),
    };
  }

  /** In Llama's names the norm after the attention is the norm before the feed-forward block. */
  private blockNorms(prefix: string) {
    const behind = this.tensor(`${prefix}.post_attention_layernorm.weight`);
    if (!this.shape.isGemma) return { feedForwardNorm: behind };
    return {
      attentionOutputNorm: behind,
      feedForwardNorm: this.tensor(`${prefix}.pre_feedforward_layernorm.weight`),
      feedForwardOutputNorm: this.tensor(`${prefix}.post_feedforward_layernorm.weight`),
    };
  }

  private tensor(name: string): Matrix {
    return matrix(this.reader, name);
  }

  private optional(name: string): Matrix | undefined {
    return this.reader.has(name) ? this.tensor(name) : undefined;
  }

  private stacked(name: string, layers: readonly string[]): LinearWeights {
    return linearWeights(this.reader, name, layers, this.shape.packing);
  }
}

/** Projections of a layer's input, before rotation. */
export interface Projections {
  /** Queries, keys and values side by side: `[batch, tokens, (heads + 2 × kvHeads) × headDim]`. */
  readonly joint: string;
  /** Normalizes queries or keys along the last axis, which is one head; absent if the model has no such norm. */
  readonly normQueries?: (heads: string) => string;
  readonly normKeys?: (heads: string) => string;
}

/** The residual stream before a block. The output of the previous block is added together with the next norm. */
interface Stream {
  readonly sum: string;
  /** Output of the previous block; absent before the first block. */
  readonly added?: string;
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

/** Options of {@link DecoderGraphWriter}. */
export interface DecoderGraphOptions {
  readonly linear: LinearMode;
  readonly kernel: IntegerKernel;
  /** Creates the attention for int64 `input_ids` `[batch, tokens]`. */
  readonly attention: (graph: GraphBuilder, shape: DecoderShape, inputIds: string) => AttentionWriter;
  /** Adds inputs that replace embeddings of tokens. */
  readonly takesImages?: boolean;
}

/** Writes the graph of a decoder with Llama's architecture around the given attention. */
export class DecoderGraphWriter {
  private readonly graph: GraphBuilder;
  private readonly linear: LinearLayers;
  /**
   * Queries, keys and values, and the output layer have at least 8 bits: 4 bits harm them the most, and the former are a small
   * part of a model.
   */
  private readonly sensitive: LinearLayers;

  constructor(
    private readonly shape: DecoderShape,
    private readonly weights: DecoderWeights,
    private readonly options: DecoderGraphOptions,
  ) {
    this.graph = new GraphBuilder(options.kernel);
    this.linear = new LinearLayers(this.graph, options.linear);
    const { linear } = options;
    const isBlocks = typeof linear === 'object';
    this.sensitive = isBlocks
      ? new LinearLayers(this.graph, { ...linear, bits: 8, zeroPoints: false })
      : this.linear;
  }

  write(): Graph {
    const { graph, shape, weights, options } = this;
    const inputIds = graph.input('input_ids', 'int64', ['batch', 'tokens']);
    const attention = options.attention(graph, shape, inputIds);
    const embedded = lookUp(graph, weights.embedding(), inputIds, options.linear);
    const scaled = this.scaled(embedded, shape.embeddingFactor);
    let stream: Stream = { sum: options.takesImages ? this.withImages(scaled) : scaled };
    for (let index = 0; index < shape.layers; index++)
      stream = this.layer(index, stream, weights.layer(index), attention);
    const { sum, added } = stream;
    const state = added ? graph.op('Add', [sum, added]) : sum;
    const normed = this.norm(attention.selectRows(state), weights.finalNorm());
    const logits = this.scaled(
      this.sensitive.multiply(normed, weights.languageModelHead()),
      shape.logitsFactor,
    );
    attention.declareOutputs(graph.op('Identity', [logits], { output: 'logits' }));
    return graph.build('decoder');
  }

  /** Replaces the embeddings of the tokens at `image_positions` by `image_embeddings`. */
  private withImages(embedded: string): string {
    const { graph } = this;
    const { hiddenSize } = this.shape;
    const positions = graph.input('image_positions', 'int64', ['image_tokens']);
    const embeddings = graph.input('image_embeddings', 'float32', ['image_tokens', hiddenSize]);
    const flat = graph.op('Reshape', [embedded, graph.int64([-1, hiddenSize])]);
    const places = graph.op('Unsqueeze', [positions, graph.int64([1])]);
    const replaced = graph.op('ScatterND', [flat, places, embeddings]);
    return graph.op('Reshape', [replaced, graph.op('Shape', [embedded])]);
  }

  private layer(
    index: number,
    stream: Stream,
    weights: DecoderLayerWeights,
    attention: AttentionWriter,
  ): Stream {
    const { residualFactor } = this.shape;
    const [state, input] = this.addAndNorm(stream, weights.attentionNorm);
    const attended = attention.attend(index, this.projections(input, weights));
    const given = this.norm(this.linear.project(attended, weights.output), weights.attentionOutputNorm);
    const added = this.scaled(given, residualFactor);
    const [middle, normed] = this.addAndNorm({ sum: state, added }, weights.feedForwardNorm);
    const inner = this.feedForward(normed, weights);
    const forwarded = this.norm(inner, weights.feedForwardOutputNorm);
    return { sum: middle, added: this.scaled(forwarded, residualFactor) };
  }

  /** Adds the output of the last block to the residual stream; returns the sum and its norm. */
  private addAndNorm({ sum, added }: Stream, weight: Matrix): [state: string, normed: string] {
    if (!added) return [sum, this.norm(sum, weight)];
    const [normed = '', state = ''] = this.graph.opWithOutputs(
      'SkipSimplifiedLayerNormalization',
      [added, sum, this.normWeight(weight)],
      [0, 3],
      { domain: microsoft, attributes: { epsilon: { float: this.shape.normEpsilon } } },
    );
    return [state, normed];
  }

  private projections(input: string, weights: DecoderLayerWeights): Projections {
    const { queryNorm, keyNorm } = weights;
    return {
      joint: this.sensitive.project(input, weights.queryKeyValue),
      ...(queryNorm && { normQueries: (heads: string) => this.norm(heads, queryNorm) }),
      ...(keyNorm && { normKeys: (heads: string) => this.norm(heads, keyNorm) }),
    };
  }

  private feedForward(input: string, weights: DecoderLayerWeights): string {
    const { graph } = this;
    const { feedForward } = this.shape;
    const joint = this.linear.project(input, weights.gateUp);
    const [gate = '', up = ''] = graph.split(joint, [feedForward, feedForward], 2);
    const activated = this.shape.isGemma
      ? graph.op('FastGelu', [gate], { domain: microsoft })
      : graph.op('QuickGelu', [gate], { domain: microsoft, attributes: { alpha: { float: 1 } } });
    return this.linear.project(graph.op('Mul', [activated, up]), weights.down);
  }

  private scaled(value: string, factor = 1): string {
    return factor === 1 ? value : this.graph.op('Mul', [value, this.graph.float(factor)]);
  }

  /** The value itself where the model has no weight for this norm. */
  private norm(value: string, weight: Matrix | undefined): string {
    if (!weight) return value;
    return this.graph.op('SimplifiedLayerNormalization', [value, this.normWeight(weight)], {
      attributes: { axis: -1, epsilon: { float: this.shape.normEpsilon } },
    });
  }

  private normWeight(weight: Matrix): string {
    if (!this.shape.isGemma) return this.graph.vector(weight);
    const read = async () => (await weight.read()).map((value) => 1 + value);
    return this.graph.constant(`${weight.name}.shifted`, 'float32', [weight.rows], read);
  }
}
