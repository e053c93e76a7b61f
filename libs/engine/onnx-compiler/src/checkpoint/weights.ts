import { storedFloats } from '../kernels/stored-values.js';
import {
  type BlockMatrix,
  type Matrix,
  type NormWeights,
  packedMatrix,
  type Packing,
  type Piece,
} from './matrix.js';
import type { SafetensorsReader } from './safetensors.js';

/** Values of a piece: 2 MiB as bfloat16. */
const pieceValues = 1 << 20;

/** Reads a matrix in pieces if it can be read so; see {@link Matrix.readPieces}. */
export async function* readPieces(source: Matrix, valuesAtOnce = pieceValues): AsyncGenerator<Piece> {
  if (source.readPieces) yield* source.readPieces(valuesAtOnce);
  else yield { first: 0, count: source.rows, values: storedFloats(await source.read()) };
}

/** Reads rows of a tensor, and the next rows while the caller works. */
async function* piecesOf(
  reader: SafetensorsReader,
  name: string,
  { rows, columns }: { rows: number; columns: number },
  valuesAtOnce: number,
): AsyncGenerator<Piece> {
  const step = Math.min(rows, Math.max(1, Math.floor(valuesAtOnce / columns)));
  const memories = Array.from({ length: step < rows ? 2 : 1 }, () => reader.borrow(name, step));
  const read = async (first: number): Promise<Piece> => {
    const count = Math.min(step, rows - first);
    const memory = memories[(first / step) % 2];
    return { first, count, values: await reader.readStored(name, { first, count }, memory) };
  };
  let next = read(0);
  try {
    for (let first = 0; first < rows; first += step) {
      const piece = await next;
      if (first + step < rows) next = read(first + step);
      yield piece;
    }
  } finally {
    // A caller may have ended early.
    await Promise.allSettled([next]);
    for (const memory of memories) reader.giveBack(memory);
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
    readPieces: (valuesAtOnce) => piecesOf(reader, name, { rows, columns }, valuesAtOnce),
  };
}

/** Stacks matrices with the same input into one matrix, so that one multiplication serves all of them. */
export function stack(name: string, parts: readonly Matrix[]): Matrix {
  const rows = parts.reduce((sum, part) => sum + part.rows, 0);
  const columns = parts[0]!.columns;
  const blocks = stackBlocks(parts);
  return {
    name,
    rows,
    columns,
    read: () => concatenate(parts),
    readPieces: (valuesAtOnce) => piecesOfStack(parts, valuesAtOnce),
    ...(blocks && { blocks }),
  };
}

/** Reads stacked matrices one after the other. */
async function* piecesOfStack(parts: readonly Matrix[], valuesAtOnce: number): AsyncGenerator<Piece> {
  let start = 0;
  for (const part of parts) {
    for await (const { first, count, values } of readPieces(part, valuesAtOnce))
      yield { first: start + first, count, values };
    start += part.rows;
  }
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
