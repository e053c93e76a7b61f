/** A linear layer in the memory of the kernels: packed weights with their scales, and the bias if there is one. */
export interface PackedLayer {
  readonly weights: number;
  readonly bias?: number;
  /** A multiple of 4; the last rows may be padding. */
  readonly outputs: number;
  readonly columns: number;
  readonly bits: 4 | 8;
  /** Columns that share a scale; 0 for a scale for each output. */
  readonly block: number;
}

/** Bytes of four rows of packed weights: their scales, then their values. */
export function stripeBytes({
  columns,
  bits,
  block,
}: Pick<PackedLayer, 'columns' | 'bits' | 'block'>): number {
  if (block === 0) return 16 + 4 * columns;
  const blocks = Math.ceil(columns / block);
  return bits === 8 ? 16 * blocks + 4 * columns : 32 * blocks + 2 * columns;
}

/** Packed matrices have whole blocks of four rows. */
export const paddedRows = (rows: number): number => Math.ceil(rows / 4) * 4;
