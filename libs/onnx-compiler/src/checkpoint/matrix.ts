import type { BlockFormat, BlockMatrix } from './block-matrix.js';
import type { RowRange } from './safetensors.js';

/** A weight matrix of a checkpoint, `[rows, columns]` = `[outputs, inputs]` as in PyTorch. It is read on demand. */
export interface Matrix {
  /** Name of its constants in the graph. */
  readonly name: string;
  readonly rows: number;
  readonly columns: number;
  read(): Promise<Float32Array>;
  /** Reads some of its rows into an array of their size, where the checkpoint has them as they are. */
  readonly readRows?: (rows: RowRange, target: Float32Array) => Promise<void>;
  /** The blocks in which a checkpoint holds it, in the layout of the operator. */
  readonly blocks?: { readonly format: BlockFormat; read(): Promise<BlockMatrix> };
}
