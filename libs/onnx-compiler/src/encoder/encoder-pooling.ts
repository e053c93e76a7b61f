import type { GraphPooling } from './encoder-config.js';
import type { GraphBuilder } from '../onnx/graph-builder.js';

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
