import type { NormWeights, Matrix } from '../checkpoint/matrix.js';
import type { SafetensorsReader } from '../checkpoint/safetensors.js';
import { type LinearWeights, linearWeights, matrix } from '../checkpoint/weights.js';
import { RotaryTables } from '../decoder/rope.js';
import { GraphBuilder, microsoft } from '../onnx/graph-builder.js';
import type { Graph } from '../onnx/onnx-file.js';
import { LinearLayers, lookUp } from '../quantization/linear.js';
import type { ModernBertShape } from './encoder-config.js';
import {
  firstToken,
  sumOverMask,
  writeEmbedding,
  writeTokens,
  type EncoderGraphOptions,
} from './encoder-graph.js';

/** Weights of one layer. */
interface ModernBertLayer {
  /** Absent in the first layer, whose input is normalized already. */
  readonly attentionNorm?: NormWeights;
  /** Query, key and value stacked. */
  readonly queryKeyValue: LinearWeights;
  readonly attentionOutput: LinearWeights;
  readonly feedForwardNorm: NormWeights;
  /** The value that is activated and its gate, stacked. */
  readonly valueGate: LinearWeights;
  readonly down: LinearWeights;
}

/** Tensors of a ModernBERT by role. Models with a head have the prefix `model.`. */
export class ModernBertWeights {
  private readonly prefix: string;

  constructor(
    private readonly reader: SafetensorsReader,
    readonly shape: ModernBertShape,
  ) {
    this.prefix = reader.has('model.embeddings.tok_embeddings.weight') ? 'model.' : '';
  }

  words(): Matrix {
    return matrix(this.reader, `${this.prefix}embeddings.tok_embeddings.weight`);
  }

  embeddingNorm(): NormWeights {
    return this.norm(`${this.prefix}embeddings.norm`);
  }

  finalNorm(): NormWeights {
    return this.norm(`${this.prefix}final_norm`);
  }

  layer(index: number): ModernBertLayer {
    const layer = `${this.prefix}layers.${index}`;
    const attentionNorm = `${layer}.attn_norm`;
    return {
      ...(this.reader.has(`${attentionNorm}.weight`) && { attentionNorm: this.norm(attentionNorm) }),
      queryKeyValue: this.linear(`${layer}.attn.Wqkv`),
      attentionOutput: this.linear(`${layer}.attn.Wo`),
      feedForwardNorm: this.norm(`${layer}.mlp_norm`),
      valueGate: this.linear(`${layer}.mlp.Wi`),
      down: this.linear(`${layer}.mlp.Wo`),
    };
  }

  /** The head of a classifier: a layer, its normalization, and the layer that computes the scores. */
  classifier(): { dense: LinearWeights; norm: NormWeights; output: LinearWeights } {
    return {
      dense: this.linear('head.dense'),
      norm: this.norm('head.norm'),
      output: this.linear('classifier'),
    };
  }

  private linear(name: string): LinearWeights {
    return linearWeights(this.reader, name, [name]);
  }

  private norm(name: string): NormWeights {
    const offset = `${name}.bias`;
    return {
      scale: matrix(this.reader, `${name}.weight`),
      ...(this.reader.has(offset) && { offset: matrix(this.reader, offset) }),
    };
  }
}

/** True for tensors of heads, which not every task needs. */
export function isIgnorableModernBert(name: string): boolean {
  return /^(head|decoder|classifier)\./.test(name);
}

/** Added to the score of a position outside the window. */
const hidden = -1e9;

/** Values that all layers share. */
interface Shared {
  /** int32 `[batch, tokens]`: 1 for tokens, 0 for padding. */
  readonly keyMask: string;
  /** float `[1, 1, tokens, tokens]`. */
  readonly window: string;
}

/**
 * Writes the serving graph of a ModernBERT: normalization before each block, rotary positions, gated GELU, and a window
 * in most layers. Inputs and outputs are as in CompiledEncoder, without segments.
 */
export class ModernBertWriter {
  private readonly graph: GraphBuilder;
  private readonly linear: LinearLayers;
  /** The head is too small for quantization to pay off. */
  private readonly exact: LinearLayers;
  private readonly globalRotary: RotaryTables;
  private readonly localRotary: RotaryTables;

  constructor(
    private readonly shape: ModernBertShape,
    private readonly weights: ModernBertWeights,
    private readonly options: EncoderGraphOptions,
  ) {
    this.graph = new GraphBuilder(options.kernel);
    this.exact = new LinearLayers(this.graph, 'fp32');
    this.linear = new LinearLayers(this.graph, options.linear);
    this.globalRotary = this.rotary(shape.globalTheta, 'rotary');
    this.localRotary = this.rotary(shape.localTheta, 'rotary.window');
  }

  write(): Graph {
    const { graph, weights, shape, options } = this;
    const inputIds = graph.input('input_ids', 'int64', ['batch', 'tokens']);
    const mask = graph.input('attention_mask', 'int64', ['batch', 'tokens']);
    const keyMask = graph.op('Cast', [mask], { attributes: { to: 6 } });
    const shared = { keyMask, window: this.windowMask(inputIds) };
    let state = this.norm(lookUp(graph, weights.words(), inputIds, options.linear), weights.embeddingNorm());
    for (let index = 0; index < shape.layers; index++)
      state = this.layer(index, state, weights.layer(index), shared);
    state = this.norm(state, weights.finalNorm());
    const { head } = options;
    if (head.task === 'embedding')
      writeEmbedding(graph, head.pooling, state, { mask, hiddenSize: shape.hiddenSize });
    else if (head.task === 'classification') this.classify(state, mask);
    else writeTokens(graph, state, shape.hiddenSize);
    return graph.build('encoder');
  }

  private rotary(theta: number, prefix: string): RotaryTables {
    const { headDim, contextLength } = this.shape;
    const rope = { theta, scaling: { rope_type: 'default' } } as const;
    return new RotaryTables(this.graph, { headDim, contextLength, rope }, prefix);
  }

  private layer(index: number, state: string, weights: ModernBertLayer, shared: Shared): string {
    const { graph } = this;
    const input = weights.attentionNorm ? this.norm(state, weights.attentionNorm) : state;
    const attended = this.attend(index, this.linear.project(input, weights.queryKeyValue), shared);
    const middle = graph.op('Add', [state, this.linear.project(attended, weights.attentionOutput)]);
    const inner = this.feedForward(this.norm(middle, weights.feedForwardNorm), weights);
    return graph.op('Add', [middle, inner]);
  }

  private attend(index: number, joint: string, { keyMask, window }: Shared): string {
    const { graph } = this;
    const { hiddenSize, heads, windowed } = this.shape;
    const [query = '', key = '', value = ''] = graph.split(joint, [hiddenSize, hiddenSize, hiddenSize], 2);
    const rotary = windowed[index] ? this.localRotary : this.globalRotary;
    const start = graph.int64([0]);
    const rotated = [query, key].map((part) => rotary.rotate(part, start, heads));
    const bias = windowed[index] ? [window] : [];
    return graph.op('MultiHeadAttention', [...rotated, value, '', keyMask, ...bias], {
      domain: microsoft,
      attributes: { num_heads: heads },
    });
  }

  private feedForward(input: string, { valueGate, down }: ModernBertLayer): string {
    const { graph } = this;
    const { feedForward } = this.shape;
    const joint = this.linear.project(input, valueGate);
    const [value = '', gate = ''] = graph.split(joint, [feedForward, feedForward], 2);
    const activated = graph.op('Gelu', [value], { domain: microsoft });
    return this.linear.project(graph.op('Mul', [activated, gate]), down);
  }

  /** 0 where two tokens are at most `reach` positions apart, otherwise a large negative number. */
  private windowMask(inputIds: string): string {
    const { graph } = this;
    const tokens = graph.op('Gather', [graph.op('Shape', [inputIds]), graph.int64Scalar(1)]);
    const range = graph.op('Range', [graph.int64Scalar(0), tokens, graph.int64Scalar(1)]);
    const rows = graph.op('Unsqueeze', [range, graph.int64([1])]);
    const distance = graph.op('Abs', [graph.op('Sub', [rows, range])]);
    const isNear = graph.op('LessOrEqual', [distance, graph.int64Scalar(this.shape.reach)]);
    const mask = graph.op('Where', [isNear, graph.float(0), graph.float(hidden)]);
    return graph.op('Unsqueeze', [mask, graph.int64([0, 1])]);
  }

  private classify(state: string, mask: string): void {
    const { graph } = this;
    const { dense, norm, output } = this.weights.classifier();
    const isFirst = this.shape.classifierPooling === 'cls';
    const pooled = isFirst ? firstToken(graph, state) : this.mean(state, mask);
    const inner = graph.op('Gelu', [this.exact.project(pooled, dense)], { domain: microsoft });
    const logits = this.exact.project(this.norm(inner, norm), output);
    graph.op('Identity', [logits], { output: 'logits' });
    graph.output('logits', 'float32', ['batch', output.weight.rows]);
  }

  private mean(state: string, mask: string): string {
    const { graph } = this;
    const count = graph.op('ReduceSum', [mask, graph.int64([1])], { attributes: { keepdims: 1 } });
    return graph.op('Div', [
      sumOverMask(graph, state, mask),
      graph.op('Cast', [count], { attributes: { to: 1 } }),
    ]);
  }

  private norm(value: string, weights: NormWeights): string {
    return this.graph.layerNorm(value, weights, this.shape.normEpsilon);
  }
}
