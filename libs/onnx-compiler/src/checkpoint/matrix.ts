import type { RowRange } from './safetensors.js';

/** A weight matrix of a checkpoint, `[rows, columns]` = `[outputs, inputs]` as in PyTorch. It is read on demand. */
export interface Matrix {
  /** Name of its constants in the graph. */
  readonly name: string;
  readonly rows: number;
  readonly columns: number;
  readonly read: () => Promise<Float32Array>;
  /** Reads some of its rows into an array of their size, where the checkpoint has them as they are. */
  readonly readRows?: (rows: RowRange, target: Float32Array) => Promise<void>;
  /** The blocks in which a checkpoint holds it, in the layout of the operator. */
  readonly blocks?: { readonly format: BlockFormat; read(): Promise<BlockMatrix> };
}

/** Scale and offset of a layer normalization. */
export interface NormWeights {
  readonly scale: Matrix;
  readonly offset?: Matrix;
}

/** Form of block-wise weights. */
export interface BlockFormat {
  readonly bits: 4 | 8;
  readonly block: number;
  /** With 4 bits: whether each block has a zero point of its own; otherwise it is 8 (128 with 8 bits). */
  readonly zeroPoints: boolean;
}

/**
 * Weights in the layout of ONNX Runtime's MatMulNBits: value = (quantized − zero point) × scale. The last block of a row
 * is padded with zeros.
 */
export interface BlockMatrix {
  /** `[rows, blocks, block × bits / 8]`; with 4 bits two weights a byte, the first in the low half. */
  readonly values: Uint8Array;
  /** `[rows, blocks]`. */
  readonly scales: Float32Array;
  /** `[rows, ⌈blocks / 2⌉]`: two a byte. */
  readonly zeroPoints?: Uint8Array;
}

/** Sets the 4-bit number at `index`. */
export function setHalf(bytes: Uint8Array, index: number, value: number): void {
  const byte = bytes[index >> 1]!;
  bytes[index >> 1] = index & 1 ? (byte & 0x0f) | (value << 4) : (byte & 0xf0) | value;
}

/** Reads the 4-bit number at `index`. */
export const halfAt = (bytes: Uint8Array, index: number): number =>
  (bytes[index >> 1]! >> ((index & 1) * 4)) & 0x0f;
