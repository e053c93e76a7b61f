import { type BlockMatrix, type Matrix, type NormWeights, packedMatrix, type Packing } from './matrix.js';
import type { SafetensorsReader } from './safetensors.js';

/**
 * Reads a matrix in pieces of whole rows of about `valuesAtOnce` values (8 MiB), so that a large one is never whole in
 * memory as float32. Each piece overwrites the one before it.
 */
export async function* readPieces(
  { rows, columns, read, readRows }: Matrix,
  valuesAtOnce = 1 << 21,
): AsyncGenerator<{ first: number; count: number; values: Float32Array }> {
  if (!readRows) {
    yield { first: 0, count: rows, values: await read() };
    return;
  }
  const step = Math.min(rows, Math.max(1, Math.floor(valuesAtOnce / columns)));
  const memory = new Float32Array(step * columns);
  for (let first = 0; first < rows; first += step) {
    const count = Math.min(step, rows - first);
    const values = memory.subarray(0, count * columns);
    await readRows({ first, count }, values);
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
    readRows: (part, target) => reader.readRows(name, part, target),
  };
}

/** Stacks matrices with the same input into one matrix, so that one multiplication serves all of them. */
export function stack(name: string, parts: readonly Matrix[]): Matrix {
  const rows = parts.reduce((sum, part) => sum + part.rows, 0);
  const columns = parts[0]!.columns;
  const blocks = stackBlocks(parts);
  const readRows = stackRows(parts);
  return {
    name,
    rows,
    columns,
    read: () => concatenate(parts),
    ...(readRows && { readRows }),
    ...(blocks && { blocks }),
  };
}

/** Reads rows of stacked matrices from the matrices that contain them. */
function stackRows(parts: readonly Matrix[]): Matrix['readRows'] {
  if (parts.some(({ readRows }) => !readRows)) return undefined;
  return async ({ first, count }, target) => {
    let start = 0;
    for (const { rows, columns, readRows } of parts) {
      const from = Math.max(first, start);
      const until = Math.min(first + count, start + rows);
      if (from < until) {
        const place = target.subarray((from - first) * columns, (until - first) * columns);
        await readRows!({ first: from - start, count: until - from }, place);
      }
      start += rows;
    }
  };
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
  for (const { rows, columns, read, readRows } of parts) {
    const end = offset + rows * columns;
    if (readRows) await readRows({ first: 0, count: rows }, values.subarray(offset, end));
    else values.set(await read(), offset);
    offset = end;
  }
  return values;
}

/** Transposes `[rows, columns]` to `[columns, rows]`. */
export function transpose<T extends Float32Array | Int8Array>(values: T, rows: number, columns: number): T {
  const result = new (values.constructor as new (length: number) => T)(values.length);
  transposeRows({ values, first: 0, count: rows }, { values: result, rows, columns });
  return result;
}

/**
 * Writes `count` rows of a matrix, from row `first` on, into the transposed matrix `[columns, rows]`, in tiles that fit
 * the CPU cache.
 */
export function transposeRows<T extends Float32Array | Int8Array>(
  { values, first, count }: { values: T; first: number; count: number },
  target: { values: T; rows: number; columns: number },
): void {
  const { values: result, rows, columns } = target;
  const tile = 32;
  for (let left = 0; left < columns; left += tile)
    for (let top = 0; top < count; top += tile) {
      const [right, bottom] = [Math.min(left + tile, columns), Math.min(top + tile, count)];
      for (let column = left; column < right; column++) {
        const place = column * rows + first;
        for (let row = top; row < bottom; row++) result[place + row] = values[row * columns + column]!;
      }
    }
}

/** A linear layer: its matrix and its optional bias. */
export interface LinearWeights {
  readonly weight: Matrix;
  readonly bias?: Matrix;
}

/** Weights of a layer whose blocks, attention and feed-forward, each begin with a layer normalization. */
export interface LayerWeights {
  readonly attentionNorm: NormWeights;
  /** Query, key and value stacked. */
  readonly queryKeyValue: LinearWeights;
  readonly attentionOutput: LinearWeights;
  readonly feedForwardNorm: NormWeights;
  readonly up: LinearWeights;
  readonly down: LinearWeights;
}

/**
 * Stacks the layers named by `parts`, which share their input, into one layer called `name`. `packing`: format of
 * the 4-bit weights of the checkpoint, if it has any.
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
