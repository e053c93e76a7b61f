import type { AttentionWriter, Projections } from './decoder-graph.js';
import type { DecoderShape } from './decoder-config.js';
import type { GraphBuilder } from '../onnx/graph-builder.js';
import { LayerRotaries } from './rope.js';

const hidden = -1e9;

/**
 * Attention in the form of Hugging Face's exports: every run takes the whole past and returns it with the new
 * tokens appended, keys and values of grouped queries are repeated for each head, and every position gets logits.
 * Inputs and outputs have the names of the exports, so that the file runs in the same runtimes.
 */
export class ConcatKvAttention implements AttentionWriter {
  private readonly positions: string;
  private readonly mask: string;
  private readonly rotary: LayerRotaries;
  private readonly windowMask: string;

  constructor(
    private readonly graph: GraphBuilder,
    private readonly shape: DecoderShape,
    inputIds: string,
  ) {
    const attentionMask = graph.input('attention_mask', 'int64', ['batch', 'total']);
    this.positions = graph.input('position_ids', 'int64', ['batch', 'tokens']);
    this.mask = this.attentionBias(inputIds, attentionMask);
    this.windowMask = shape.window
      ? this.attentionBias(inputIds, attentionMask, shape.window.size)
      : this.mask;
    this.rotary = new LayerRotaries(graph, shape, shape.rope);
  }

  attend(layer: number, { joint, normQueries, normKeys }: Projections): string {
    const { graph, shape, rotary, positions } = this;
    const { heads, kvHeads, headDim, scale = headDim ** -0.5 } = shape;
    const sizes = [heads * headDim, kvHeads * headDim, kvHeads * headDim];
    const [queries = '', keys = '', values = ''] = graph.split(joint, sizes, 2);
    const rotated = (part: string, count: number, norm: Projections['normKeys']) =>
      rotary.rotate(layer, this.headNorm(part, count, norm), positions, count);
    const query = this.splitHeads(rotated(queries, heads, normQueries), heads);
    const key = this.append(layer, 'key', this.splitHeads(rotated(keys, kvHeads, normKeys), kvHeads));
    const value = this.append(layer, 'value', this.splitHeads(values, kvHeads));
    const transposed = graph.op('Transpose', [this.repeat(key)], { attributes: { perm: [0, 1, 3, 2] } });
    const products = graph.op('Mul', [graph.op('MatMul', [query, transposed]), graph.float(scale)]);
    const mask = shape.window?.layers[layer] ? this.windowMask : this.mask;
    const weights = graph.op('Softmax', [graph.op('Add', [products, mask])], {
      attributes: { axis: -1 },
    });
    const attended = graph.op('MatMul', [weights, this.repeat(value)]);
    const merged = graph.op('Transpose', [attended], { attributes: { perm: [0, 2, 1, 3] } });
    return graph.op('Reshape', [merged, graph.int64([0, 0, heads * headDim])]);
  }

  selectRows(hiddenState: string): string {
    return hiddenState;
  }

  declareOutputs(logits: string): void {
    const { layers, kvHeads, headDim, vocabularySize } = this.shape;
    this.graph.output(logits, 'float32', ['batch', 'tokens', vocabularySize]);
    for (let layer = 0; layer < layers; layer++)
      for (const part of ['key', 'value'])
        this.graph.output(`present.${layer}.${part}`, 'float32', ['batch', kvHeads, 'total', headDim]);
  }

  /** float `[batch, 1, tokens, total]`: 0 where a query may attend, otherwise a large negative number. */
  private attentionBias(inputIds: string, attentionMask: string, window?: number): string {
    const { graph } = this;
    const length = (value: string): string =>
      graph.op('Gather', [graph.op('Shape', [value]), graph.int64Scalar(1)]);
    const [tokens, total] = [length(inputIds), length(attentionMask)];
    const range = (start: string): string => graph.op('Range', [start, total, graph.int64Scalar(1)]);
    const queries = graph.op('Unsqueeze', [range(graph.op('Sub', [total, tokens])), graph.int64([1])]);
    const keys = range(graph.int64Scalar(0));
    const isBefore = graph.op('LessOrEqual', [keys, queries]);
    const isNear = (size: number) =>
      graph.op('Greater', [keys, graph.op('Sub', [queries, graph.int64Scalar(size)])]);
    const isCausal = window === undefined ? isBefore : graph.op('And', [isBefore, isNear(window)]);
    const isToken = graph.op('Cast', [attentionMask], { attributes: { to: 9 } });
    const isVisible = graph.op('And', [isCausal, graph.op('Unsqueeze', [isToken, graph.int64([1, 2])])]);
    return graph.op('Where', [isVisible, graph.float(0), graph.float(hidden)]);
  }

  private headNorm(value: string, heads: number, norm: Projections['normKeys']): string {
    if (!norm) return value;
    const { graph } = this;
    const { headDim } = this.shape;
    const split = graph.op('Reshape', [value, graph.int64([0, 0, heads, headDim])]);
    return graph.op('Reshape', [norm(split), graph.int64([0, 0, heads * headDim])]);
  }

  private splitHeads(value: string, heads: number): string {
    const { graph } = this;
    const split = graph.op('Reshape', [value, graph.int64([0, 0, heads, this.shape.headDim])]);
    return graph.op('Transpose', [split], { attributes: { perm: [0, 2, 1, 3] } });
  }

  /** Concatenates the past and the new tokens; the result is also an output, which the next run takes. */
  private append(layer: number, part: 'key' | 'value', added: string): string {
    const { graph } = this;
    const { kvHeads, headDim } = this.shape;
    const past = graph.input(`past_key_values.${layer}.${part}`, 'float32', [
      'batch',
      kvHeads,
      'past',
      headDim,
    ]);
    return graph.op('Concat', [past, added], { attributes: { axis: 2 }, output: `present.${layer}.${part}` });
  }

  /** `[batch, kvHeads, total, headDim]` → `[batch, heads, total, headDim]`. */
  private repeat(value: string): string {
    const { graph } = this;
    const { heads, kvHeads, headDim } = this.shape;
    if (heads === kvHeads) return value;
    const group = graph.op('Unsqueeze', [value, graph.int64([2])]);
    const target = graph.int64([1, 1, heads / kvHeads, 1, 1]);
    const expanded = graph.op('Expand', [group, target]);
    const total = graph.op('Slice', [graph.op('Shape', [value]), graph.int64([2]), graph.int64([3])]);
    const batch = graph.op('Slice', [graph.op('Shape', [value]), graph.int64([0]), graph.int64([1])]);
    const shape = graph.op('Concat', [batch, graph.int64([heads]), total, graph.int64([headDim])], {
      attributes: { axis: 0 },
    });
    return graph.op('Reshape', [expanded, shape]);
  }
}
