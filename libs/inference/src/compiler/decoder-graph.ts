import { type KvPrecision, DeltaAttention, type PastSlabs } from './attention.js';
import type { DecoderShape } from './decoder-config.js';
import type { DecoderLayerWeights, DecoderWeights } from './decoder-weights.js';
import { lookUp } from './embedding-table.js';
import { GraphBuilder } from './graph-builder.js';
import { type LinearMode, LinearLayers, quantiseRowsInGraph, rowRanges } from './linear.js';
import type { LinearWeights } from './linear-weights.js';
import type { Matrix } from './matrix.js';
import type { Graph } from './onnx-file.js';
import { buildStepValues } from './step-values.js';

export interface DecoderGraphOptions {
  readonly linear: LinearMode;
  readonly kv: KvPrecision;
}

/** Writes the serving graph of a decoder; its inputs and outputs are described at CompiledDecoder. */
export function buildDecoderGraph(
  shape: DecoderShape,
  weights: DecoderWeights,
  options: DecoderGraphOptions,
): Graph {
  return new DecoderGraphWriter(shape, weights, options).write();
}

class DecoderGraphWriter {
  private readonly graph = new GraphBuilder();
  private readonly linear: LinearLayers;
  /** New keys and values of all layers: key 0, value 0, key 1, … */
  private readonly newKv: string[] = [];

  constructor(
    private readonly shape: DecoderShape,
    private readonly weights: DecoderWeights,
    private readonly options: DecoderGraphOptions,
  ) {
    this.linear = new LinearLayers(this.graph, options.linear);
  }

  write(): Graph {
    const { graph, shape } = this;
    const inputIds = graph.input('input_ids', 'int64', ['batch', 'tokens']);
    const pastLengths = graph.input('past_lengths', 'int64', ['batch']);
    const logitPositions = graph.input('logit_positions', 'int64', ['rows']);
    const slabs = Array.from({ length: shape.layers }, (_, layer) => this.declareSlabs(layer));
    const step = buildStepValues(graph, shape, { inputIds, pastLengths, slab: slabs[0]!.values });
    const attention = new DeltaAttention(graph, shape, step);
    let hiddenState = lookUp(graph, this.weights.embedding(), inputIds, this.options.linear);
    for (const [index, past] of slabs.entries())
      hiddenState = this.layer(hiddenState, this.weights.layer(index), attention, past);
    this.logits(hiddenState, logitPositions);
    this.returnNewKv();
    return graph.build('decoder');
  }

  private declareSlabs(layer: number): PastSlabs {
    const { graph } = this;
    const { kvHeads, headDim } = this.shape;
    const [key, value] = [`past_key_values.${layer}.key`, `past_key_values.${layer}.value`];
    const positionsFirst = ['batch', kvHeads, 'capacity', headDim];
    if (this.options.kv === 'float')
      return {
        keys: graph.input(key, 'float32', positionsFirst),
        values: graph.input(value, 'float32', positionsFirst),
      };
    const scales = ['batch', kvHeads, 1, 'capacity'];
    return {
      keys: graph.input(key, 'int8', ['batch', kvHeads, headDim, 'capacity']),
      values: graph.input(value, 'int8', positionsFirst),
      keyScales: graph.input(`${key}_scale`, 'float32', scales),
      valueScales: graph.input(`${value}_scale`, 'float32', scales),
    };
  }

  private layer(
    hiddenState: string,
    weights: DecoderLayerWeights,
    attention: DeltaAttention,
    past: PastSlabs,
  ): string {
    const { graph } = this;
    const attended = this.attentionBlock(
      this.norm(hiddenState, weights.attentionNorm),
      weights,
      attention,
      past,
    );
    const middle = graph.op('Add', [hiddenState, attended]);
    const forwarded = this.feedForward(this.norm(middle, weights.feedForwardNorm), weights);
    return graph.op('Add', [middle, forwarded]);
  }

  private attentionBlock(
    input: string,
    weights: DecoderLayerWeights,
    attention: DeltaAttention,
    past: PastSlabs,
  ): string {
    const { heads, kvHeads, headDim } = this.shape;
    const joint = this.project(input, weights.queryKeyValue);
    const sizes = [heads * headDim, kvHeads * headDim, kvHeads * headDim];
    const [query = '', key = '', value = ''] = this.graph.split(joint, sizes, 2);
    const queries = attention.rotate(this.headNorm(query, heads, weights.queryNorm), heads);
    const rotated = attention.rotate(this.headNorm(key, kvHeads, weights.keyNorm), kvHeads);
    const keys = attention.splitHeads(rotated);
    const values = attention.splitHeads(value);
    this.newKv.push(keys, values);
    return this.project(attention.attend(queries, keys, values, past), weights.output);
  }

  private feedForward(input: string, weights: DecoderLayerWeights): string {
    const { graph } = this;
    const { feedForward } = this.shape;
    const joint = this.project(input, weights.gateUp);
    const [gate = '', up = ''] = graph.split(joint, [feedForward, feedForward], 2);
    const activated = graph.op('Mul', [gate, graph.op('Sigmoid', [gate])]);
    return this.project(graph.op('Mul', [activated, up]), weights.down);
  }

  private project(input: string, { weight, bias }: LinearWeights): string {
    const constant = bias && this.vector(bias);
    return this.linear.multiply(input, weight, constant);
  }

  private norm(value: string, weight: Matrix): string {
    return this.graph.op('SimplifiedLayerNormalization', [value, this.vector(weight)], {
      attributes: { axis: -1, epsilon: { float: this.shape.normEpsilon } },
    });
  }

  /** Qwen3 normalises each head of queries and keys; others pass through. */
  private headNorm(value: string, heads: number, weight: Matrix | undefined): string {
    if (!weight) return value;
    const { graph } = this;
    const { headDim } = this.shape;
    const split = graph.op('Reshape', [value, graph.int64([0, 0, heads, headDim])]);
    return graph.op('Reshape', [this.norm(split, weight), graph.int64([0, 0, heads * headDim])]);
  }

  private vector(weight: Matrix): string {
    return this.graph.constant(weight.name, 'float32', [weight.rows], () => weight.read());
  }

  private logits(hiddenState: string, logitPositions: string): void {
    const { graph, shape } = this;
    const flat = graph.op('Reshape', [hiddenState, graph.int64([-1, shape.hiddenSize])]);
    const chosen = graph.op('Gather', [flat, logitPositions], { attributes: { axis: 0 } });
    const normed = this.norm(chosen, this.weights.finalNorm());
    const logits = this.linear.multiply(normed, this.weights.languageModelHead());
    graph.op('Identity', [logits], { output: 'logits' });
    graph.output('logits', 'float32', ['rows', shape.vocabularySize]);
  }

  private returnNewKv(): void {
    const { graph } = this;
    const { layers, kvHeads, headDim } = this.shape;
    const dims = [2 * layers, 'batch', kvHeads, 'tokens', headDim];
    const parts = this.newKv.map((value) => graph.op('Unsqueeze', [value, graph.int64([0])]));
    if (this.options.kv === 'float') {
      graph.op('Concat', parts, { attributes: { axis: 0 }, output: 'new_kv' });
      graph.output('new_kv', 'float32', dims);
      return;
    }
    const joint = graph.op('Concat', parts, { attributes: { axis: 0 } });
    const { rowMaximum, quantised } = quantiseRowsInGraph(graph, joint, rowRanges.signed);
    const scales = graph.op('Mul', [rowMaximum, graph.float(1 / 127)]);
    graph.op('Identity', [quantised], { output: 'new_kv' });
    graph.op('Squeeze', [scales, graph.int64([4])], { output: 'new_kv_scale' });
    graph.output('new_kv', 'int8', dims);
    graph.output('new_kv_scale', 'float32', dims.slice(0, 4));
  }
}
