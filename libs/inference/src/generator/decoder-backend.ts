/** The keys and values of one token sequence, wherever the backend keeps them. */
export interface DecoderSequence {
  /** Tokens that went in so far. */
  readonly length: number;
  /** A second sequence with the same tokens; what follows goes into one of them only. */
  fork(): DecoderSequence;
  /** Frees what it holds. */
  release(): void;
}

export interface ForwardItem<Sequence extends DecoderSequence = DecoderSequence> {
  readonly sequence: Sequence;
  /** Tokens to append, at least one. */
  readonly tokens: readonly number[];
  /** For how many of the last of these tokens the logits of what follows are wanted. */
  readonly logits: number;
}

/** One decoder model on one device: appends tokens to sequences and says what comes next. */
export interface DecoderBackend<Sequence extends DecoderSequence = DecoderSequence> {
  /** What runs it, e.g. `onnx-cpu`. */
  readonly name: string;
  /** Most tokens of a sequence. */
  readonly contextLength: number;
  readonly vocabularySize: number;
  /** Most items of one forward pass. */
  readonly maxBatch: number;
  /** Most tokens of one item that keep a pass short enough for the others to wait. */
  readonly prefillChunk: number;
  openSequence(): Sequence;
  /** Runs the items; per item the wanted logits, `[wanted, vocabulary]`. */
  forward(items: readonly ForwardItem<Sequence>[]): Promise<Float32Array[]>;
  dispose(): Promise<void>;
}
