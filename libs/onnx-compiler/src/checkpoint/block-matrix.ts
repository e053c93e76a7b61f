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
