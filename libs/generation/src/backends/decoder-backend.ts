/** The keys and values of one token sequence, wherever the backend keeps them. */
export interface DecoderSequence {
  /** Tokens that it holds. */
  readonly length: number;
  /** A second sequence with the same tokens; what follows goes into one of them only. */
  fork(): DecoderSequence;
  /** Takes back the tokens from `length` on; asked only of backends that take drafts. */
  truncate?(length: number): void;
  /** Frees what it holds. Calling it again does nothing. */
  release(): void;
}

export interface ForwardItem<Sequence extends DecoderSequence = DecoderSequence> {
  readonly sequence: Sequence;
  /** Tokens to append, at least one. */
  readonly tokens: readonly number[];
  /** For how many of the last of these tokens the logits of what follows are wanted. */
  readonly logits: number;
}

/** Memory that a backend holds at the moment. */
export interface HeldBytes {
  /** Keys and values of the sequences that are open. */
  readonly sequences: number;
  /** The beginnings of earlier prompts. */
  readonly prefixes: number;
}

/** One decoder model on one device: appends tokens to sequences and says what comes next. */
export interface DecoderBackend<Sequence extends DecoderSequence = DecoderSequence> {
  /** What runs it, e.g. `onnx-cpu`. */
  readonly name: string;
  readonly vocabularySize: number;
  /** Most items of one decoding pass. */
  readonly maxBatch: number;
  /** Tokens of a piece of a prompt: few enough that the others can wait for it. */
  readonly prefillChunk: number;
  /** Most drafted tokens that it checks in one pass; 0 where it cannot take tokens back. */
  readonly maxDrafts: number;
  /**
   * How far the logits of one pass over several tokens may lie from those of a pass for each: where the two likeliest
   * tokens are closer than that, only a pass over one token decides.
   */
  readonly draftMargin: number;
  readonly heldBytes: HeldBytes;
  /** False while a sequence of so many tokens would exceed the memory set aside for keys and values. */
  hasRoomFor(tokens: number): boolean;
  /**
   * A sequence for this prompt. It may hold the beginning of the prompt already (see its length), where an earlier
   * one had the same; never the whole of it.
   */
  openSequence(prompt: readonly number[], options?: SequenceOptions): Sequence;
  /** Appends the next piece of a prompt; returns the wanted logits, `[wanted, vocabulary]`. */
  prefill(item: ForwardItem<Sequence>): Promise<Float32Array>;
  /** Appends to several sequences whose prompts are in; per item the wanted logits, `[wanted, vocabulary]`. */
  decode(items: readonly ForwardItem<Sequence>[]): Promise<Float32Array[]>;
  dispose(): Promise<void>;
}

export interface SequenceOptions {
  /** Several tokens at a time may be appended to it while decoding, and taken back. */
  readonly speculative?: boolean;
}
