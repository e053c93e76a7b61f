/** What a layer projects out of its input, before rotation: `[batch, tokens, heads × headDim]` (keys, values: kvHeads). */
export interface Projections {
  readonly queries: string;
  readonly keys: string;
  readonly values: string;
}

/** How a decoder graph attends and where its past comes from: all that differs between serving and exporter's graphs. */
export interface AttentionWriter {
  /** Attention of one layer → `[batch, tokens, heads × headDim]`. Layers come in order, each once. */
  attend(layer: number, projections: Projections): string;
  /** Of the final `[batch, tokens, hidden]`, the rows whose logits are wanted. */
  selectRows(hiddenState: string): string;
  /** Declares the logits and what the cache needs as outputs. */
  declareOutputs(logits: string): void;
}
