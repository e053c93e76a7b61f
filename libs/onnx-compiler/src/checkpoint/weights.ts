import type { BlockMatrix } from './block-matrix.js';
import type { Matrix } from './matrix.js';
import { packedMatrix, type Packing } from './packed-weights.js';
import type { SafetensorsReader } from './safetensors.js';

/**
 * Reads a matrix in pieces of whole rows of about `valuesAtOnce` values (64 MiB), so that a large embedding table is not
 * held as float32.
 */
export async function* readPieces(
  matrix: Matrix,
  valuesAtOnce = 1 << 24,
): AsyncGenerator<{ first: number; count: number; values: Float32Array }> {
  const { rows, columns, readRows } = matrix;
  const step = readRows ? Math.max(1, Math.floor(valuesAtOnce / columns)) : rows;
  for (let first = 0; first < rows; first += step) {
    const count = Math.min(step, rows - first);
    const values = readRows && count < rows ? await readRows({ first, count }) : await matrix.read();
    yield { first, count, values };
  }
}

/**
 * Returns one tensor of the checkpoint as a matrix; a vector becomes a matrix of one column. Errors:
 * UnsupportedModelError if it is missing.
 */
export function matrix(reader: SafetensorsReader, name: string): Matrix {
  const [rows = 0, columns = 1] = reader.shape(name);
  return {
    name,
    rows,
    columns,
    read: () => reader.readFloat32(name),
    readRows: (part) => reader.readFloat32(name, part),
  };
}

/** Stacks matrices with the same input into one matrix, so that one multiplication serves all of them. */
export function stack(name: string, parts: readonly Matrix[]): Matrix {
  const rows = parts.reduce((sum, part) => sum + part.rows, 0);
  const columns = parts[0]!.columns;
  const blocks = stackBlocks(parts);
  return { name, rows, columns, read: () => concatenate(parts), ...(blocks && { blocks }) };
}

/** Blocks of a row do not depend on other rows, so matrices with the same format follow each other. */
function stackBlocks(parts: readonly Matrix[]): Matrix['blocks'] {
  const format = parts[0]!.blocks?.format;
  const stored = parts.flatMap(({ blocks }) =>
    blocks && blocks.format.block === format?.block ? [blocks] : [],
  );
  if (!format || stored.length < parts.length) return undefined;
  return {
    format,
    read: async () => {
      const matrices: BlockMatrix[] = [];
      for (const blocks of stored) matrices.push(await blocks.read());
      return {
        values: Buffer.concat(matrices.map(({ values }) => values)),
        scales: joinFloats(matrices.map(({ scales }) => scales)),
        zeroPoints: Buffer.concat(matrices.map(({ zeroPoints = new Uint8Array(0) }) => zeroPoints)),
      };
    },
  };
}

function joinFloats(parts: readonly Float32Array[]): Float32Array {
  const values = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    values.set(part, offset);
    offset += part.length;
  }
  return values;
}

async function concatenate(parts: readonly Matrix[]): Promise<Float32Array> {
  const values = new Float32Array(parts.reduce((sum, part) => sum + part.rows * part.columns, 0));
  let offset = 0;
  for (const part of parts) {
    values.set(await part.read(), offset);
    offset += part.rows * part.columns;
  }
  return values;
}

/** Transposes `[rows, columns]` to `[columns, rows]`, in tiles that fit the CPU cache. */
export function transpose<T extends Float32Array | Int8Array>(values: T, rows: number, columns: number): T {
  const result = new (values.constructor as new (length: number) => T)(values.length);
  const tile = 64;
  for (let top = 0; top < rows; top += tile)
    for (let left = 0; left < columns; left += tile)
      for (let row = top; row < Math.min(top + tile, rows); row++)
        for (let column = left; column < Math.min(left + tile, columns); column++)
          result[column * rows + row] = values[row * columns + column]!;
  return result;
}

/** A linear layer: its matrix and its optional bias. */
export interface LinearWeights {
  readonly weight: Matrix;
  readonly bias?: Matrix;
}

/**
 * Stacks the layers named by `parts`, which share their input, into one layer called `name`. `packing`: of layers whose
 * weights the checkpoint holds in 4 bits.
 */
export function linearWeights(
  reader: SafetensorsReader,
  name: string,
  parts: readonly string[],
  packing?: Packing,
): LinearWeights {
  const tensor = (part: string, kind: string): Matrix =>
    packing && kind === 'weight' && reader.has(`${part}.qweight`)
      ? packedMatrix(reader, part, packing)
      : matrix(reader, `${part}.${kind}`);
  const tensors = (kind: 'weight' | 'bias'): Matrix =>
    stack(
      `${name}.${kind}`,
      parts.map((part) => tensor(part, kind)),
    );
  return reader.has(`${parts[0]}.bias`)
    ? { weight: tensors('weight'), bias: tensors('bias') }
    : { weight: tensors('weight') };
}
