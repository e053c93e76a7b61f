import type { NormWeights } from '../checkpoint/matrix.js';
import { stack, type LinearWeights } from '../checkpoint/weights.js';
import { GraphBuilder, microsoft, type IntegerKernel } from '../onnx/graph-builder.js';
import type { Graph } from '../onnx/onnx-file.js';
import { LinearLayers, lookUp, type LinearMode } from '../quantization/linear.js';
import { activations, type EncoderShape, type GraphPooling } from './encoder-config.js';
import type { EncoderLayerWeights, EncoderWeights } from './encoder-weights.js';

/**
 * Output of the graph: a vector of unit length per text, the class scores of each text, or the state of each token.
 */
export type EncoderHead =
  | { readonly task: 'embedding'; readonly pooling: GraphPooling }
  | { readonly task: 'classification' }
  | { readonly task: 'tokens' };

/** Options of {@link EncoderGraphWriter}. */
export interface EncoderGraphOptions {
  readonly linear: LinearMode;
  readonly kernel: IntegerKernel;
  readonly head: EncoderHead;
}

/** Writes the serving graph of an encoder; see CompiledEncoder for its inputs and outputs. */
export class EncoderGraphWriter {
  private readonly graph: GraphBuilder;
  private readonly linear: LinearLayers;
  /** The heads are too small for quantization to pay off. */
  private readonly exact: LinearLayers;

  constructor(
    private readonly shape: EncoderShape,
    private readonly weights: EncoderWeights,
    private readonly options: EncoderGraphOptions,
  ) {
    this.graph = new GraphBuilder(options.kernel);
    this.exact = new LinearLayers(this.graph, 'fp32');
    this.linear = new LinearLayers(this.graph, options.linear);
  }

  write(): Graph {
    const { graph, weights } = this;
    const inputIds = graph.input('input_ids', 'int64', ['batch', 'tokens']);
    const mask = graph.input('attention_mask', 'int64', ['batch', 'tokens']);
    let state = this.norm(this.embed(inputIds, mask), weights.embeddingNorm());
    const keyMask = graph.op('Cast', [mask], { attributes: { to: 6 } });
    const last = this.shape.layers - 1;
    for (let index = 0; index <= last; index++) {
      const queries = index === last && this.usesFirstToken ? beginning(graph, state) : state;
      state = this.layer(queries, state, weights.layer(index), keyMask);
    }
    this.finish(state, mask);
    return graph.build('encoder');
  }

  /** True if only the state of the first token is used; the last layer then computes only this one. */
  private get usesFirstToken(): boolean {
    const { head } = this.options;
    return head.task === 'classification' || (head.task === 'embedding' && head.pooling === 'cls');
  }

  private finish(state: string, mask: string): void {
    const { graph, shape, options } = this;
    if (options.head.task === 'classification') this.classify(state);
    else if (options.head.task === 'embedding')
      writeEmbedding(graph, options.head.pooling, state, { mask, hiddenSize: shape.hiddenSize });
    else writeTokens(graph, state, shape.hiddenSize);
  }

  private embed(inputIds: string, mask: string): string {
    const { graph, shape, weights } = this;
    const words = lookUp(graph, weights.words(), inputIds, this.options.linear);
    const positionIds =
      shape.family === 'bert' ? this.countedPositions(inputIds) : this.maskedPositions(mask);
    const positions = lookUp(graph, weights.positions(), positionIds, this.options.linear);
    return graph.op('Add', [graph.op('Add', [words, this.segments()]), positions]);
  }

  /** Segment of each token; the graph of a model with one segment does not have this input. */
  private segments(): string {
    const { graph, shape, weights } = this;
    const ids =
      shape.segments > 1 && shape.family === 'bert'
        ? graph.input('token_type_ids', 'int64', ['batch', 'tokens'])
        : graph.int64([0]);
    return lookUp(graph, weights.segments(), ids, 'fp32');
  }

  /** int64 `[tokens]`: 0, 1, 2, … */
  private countedPositions(inputIds: string): string {
    const { graph } = this;
    const tokens = graph.op('Gather', [graph.op('Shape', [inputIds]), graph.int64Scalar(1)]);
    return graph.op('Range', [graph.int64Scalar(0), tokens, graph.int64Scalar(1)]);
  }

  /** int64 `[batch, tokens]`: the padding id plus the index of the token among the tokens that are not padding. */
  private maskedPositions(mask: string): string {
    const { graph } = this;
    const counted = graph.op('CumSum', [mask, graph.int64Scalar(1)]);
    return graph.op('Add', [graph.op('Mul', [counted, mask]), graph.int64Scalar(this.shape.padTokenId)]);
  }

  /** The state of the tokens of `queries` after a layer in which they attend to all of `state`. */
  private layer(queries: string, state: string, weights: EncoderLayerWeights, keyMask: string): string {
    const { query, key, value, attentionOutput, attentionNorm, down, outputNorm } = weights;
    const parts = [this.product(queries, query), this.product(state, key), this.product(state, value)];
    const attended = this.graph.op('MultiHeadAttention', [...parts, this.jointBias(weights), keyMask], {
      domain: microsoft,
      attributes: { num_heads: this.shape.heads },
    });
    const middle = this.normSum(this.linear.project(attended, attentionOutput), queries, attentionNorm);
    return this.normSum(this.linear.project(this.activate(middle, weights.up), down), middle, outputNorm);
  }

  /** The biases of query, key and value, which the attention adds; none if the model has none. */
  private jointBias({ query, key, value }: EncoderLayerWeights): string {
    const biases = [query, key, value].flatMap(({ bias }) => bias ?? []);
    return biases.length === 3 ? this.graph.vector(stack(`${query.weight.name}.key.value.bias`, biases)) : '';
  }

  /** The first half of the feed-forward block. Gelu adds the bias itself, which saves a pass. */
  private activate(input: string, up: LinearWeights): string {
    const { operator, withBias, domain } = activations[this.shape.activation];
    if (!up.bias || !withBias) return this.graph.op(operator, [this.linear.project(input, up)], { domain });
    return this.graph.op(withBias, [this.product(input, up), this.graph.vector(up.bias)], { domain });
  }

  private normSum(product: string, state: string, norm: NormWeights): string {
    return this.norm(this.graph.op('Add', [product, state]), norm);
  }

  /** The product of a layer, without its bias. */
  private product(input: string, { weight }: LinearWeights): string {
    return this.linear.multiply(input, weight);
  }

  private norm(value: string, weights: NormWeights): string {
    return this.graph.layerNorm(value, weights, this.shape.normEpsilon);
  }

  private classify(state: string): void {
    const { graph } = this;
    const { dense, output } = this.weights.classifier();
    const inner = graph.op('Tanh', [this.exact.project(firstToken(graph, state), dense)]);
    const logits = this.exact.project(inner, output);
    graph.op('Identity', [logits], { output: 'logits' });
    graph.output('logits', 'float32', ['batch', output.weight.rows]);
  }
}

/**
 * `[batch, tokens, hidden]` → `[batch, 2, hidden]`. One token would be enough, but a product of a single row is scaled
 * in a different order, and the result of a text must not depend on the batch.
 */
function beginning(graph: GraphBuilder, state: string): string {
  return graph.op('Slice', [state, graph.int64([0]), graph.int64([2]), graph.int64([1])]);
}

/** `[batch, tokens, hidden]` → the state of the first token, `[batch, hidden]`. */
export function firstToken(graph: GraphBuilder, state: string): string {
  return graph.op('Gather', [state, graph.int64Scalar(0)], { attributes: { axis: 1 } });
}

/** `[batch, tokens, hidden]` → the sum over the tokens that are not padding, `[batch, hidden]`. */
export function sumOverMask(graph: GraphBuilder, state: string, mask: string): string {
  const weights = graph.op('Cast', [graph.op('Unsqueeze', [mask, graph.int64([1])])], {
    attributes: { to: 1 },
  });
  return graph.op('Squeeze', [graph.op('MatMul', [weights, state]), graph.int64([1])]);
}

/**
 * Writes the output `sentence_embedding`: one vector of unit length for each text. The normalization makes the sum over
 * the mask equal to the mean.
 */
export function writeEmbedding(
  graph: GraphBuilder,
  pooling: GraphPooling,
  state: string,
  { mask, hiddenSize }: { mask: string; hiddenSize: number },
): void {
  const pooled = pooling === 'cls' ? firstToken(graph, state) : sumOverMask(graph, state, mask);
  graph.op('LpNormalization', [pooled], { attributes: { axis: -1, p: 2 }, output: 'sentence_embedding' });
  graph.output('sentence_embedding', 'float32', ['batch', hiddenSize]);
}

/** Writes the output `last_hidden_state`: the state of each token. */
export function writeTokens(graph: GraphBuilder, state: string, hiddenSize: number): void {
  graph.op('Identity', [state], { output: 'last_hidden_state' });
  graph.output('last_hidden_state', 'float32', ['batch', 'tokens', hiddenSize]);
}
