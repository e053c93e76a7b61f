import { mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Matrix, Piece } from '../checkpoint/matrix.js';
import { SafetensorsReader } from '../checkpoint/safetensors.js';
import { readPieces } from '../checkpoint/weights.js';
import { weightKernels } from '../kernels/kernels.js';
import { loadFloats, storedBytes, storedFloats, valuesOfStrip } from '../kernels/stored-values.js';
import type { GraphBuilder } from '../onnx/graph-builder.js';

/** Int8 weights with one scale per row (output channel): value = quantized × scale. */
interface QuantizedMatrix {
  /** `[rows, columns]`, each in −127…127. */
  readonly values: Int8Array;
  /** `[rows]`. */
  readonly scales: Float32Array;
}

/** Rounds each row symmetrically to int8 by its largest magnitude. */
export function quantizeRows(values: Float32Array, rows: number, columns: number): QuantizedMatrix {
  const result = { values: new Int8Array(values.length), scales: new Float32Array(rows) };
  quantizePiece({ first: 0, count: rows, values: storedFloats(values) }, { rows, columns }, result, false);
  return result;
}

/** Rows that are computed together. Their number is a multiple of 8, as squares of a transposition need it. */
export const rowsOfStrip = (columns: number): number =>
  Math.max(1, Math.floor(valuesOfStrip / columns / 8)) * 8;

const toMultipleOf8 = (count: number): number => Math.ceil(count / 8) * 8;

/** Rounds rows of a matrix into `target`. `transposed`: the target's values are `[columns, rows]`. */
function quantizePiece(
  { first, count, values }: Piece,
  { rows, columns }: { rows: number; columns: number },
  target: QuantizedMatrix,
  transposed: boolean,
): void {
  const kernels = weightKernels();
  const strip = Math.min(rowsOfStrip(columns), toMultipleOf8(count));
  // Rows whose distance is a power of two would have the same place in the cache.
  const stride = transposed ? toMultipleOf8(columns) + 8 : columns;
  const lineBytes = toMultipleOf8(count);
  const [source, floats, bytes, scales, lines] = kernels.reserve([
    storedBytes(values, strip * columns),
    strip * columns * 4,
    strip * stride,
    count * 4,
    transposed ? toMultipleOf8(columns) * lineBytes : 0,
  ]);
  for (let row = 0; row < count; row += strip) {
    const height = Math.min(strip, count - row);
    loadFloats(values, { first: row * columns, count: height * columns }, { source, target: floats });
    kernels.run.quantizeRows(floats, height, columns, bytes, stride, scales + row * 4);
    if (transposed) kernels.run.transposeBytes(bytes, height, columns, stride, lines + row, lineBytes);
    else target.values.set(kernels.integers(bytes, height * columns), (first + row) * columns);
  }
  target.scales.set(kernels.floats(scales, count), first);
  if (transposed)
    for (let column = 0; column < columns; column++)
      target.values.set(kernels.integers(lines + column * lineBytes, count), column * rows + first);
}

/** `transposed`: the values are `[columns, rows]`. */
async function quantizePieces(source: Matrix, transposed: boolean): Promise<QuantizedMatrix> {
  const { rows, columns } = source;
  const result = { values: new Int8Array(rows * columns), scales: new Float32Array(rows) };
  for await (const piece of readPieces(source)) quantizePiece(piece, source, result, transposed);
  return result;
}

/**
 * Quantizes a matrix when the first of its two parts is requested, and frees it after the second. `transposed`: the
 * values are
 * `[columns, rows]`.
 */
export function quantizeLazily(
  source: Matrix,
  transposed = false,
): {
  values: () => Promise<Int8Array>;
  scales: () => Promise<Float32Array>;
} {
  const take = takenOnce(() => quantizePieces(source, transposed), 2);
  return { values: () => take('values'), scales: () => take('scales') };
}

/**
 * Ranges of row-wise quantization: `centered`: any sign to uint8; `positive`: non-negative to uint8; `signed`: any
 * sign to int8. The narrow ranges keep every pair of products with int8 below 2¹⁵, for kernels that saturate there.
 */
export const rowRanges = {
  centered: { levels: 127, zeroPoint: 128, type: 'uint8' },
  positive: { levels: 255, zeroPoint: 0, type: 'uint8' },
  narrowCentered: { levels: 63, zeroPoint: 64, type: 'uint8' },
  narrowPositive: { levels: 127, zeroPoint: 0, type: 'uint8' },
  signed: { levels: 127, zeroPoint: 0, type: 'int8' },
} as const;
type RowRange = (typeof rowRanges)[keyof typeof rowRanges];

/**
 * Quantizes an activation row by row: `quantized ≈ input ÷ rowMaximum × levels + zeroPoint`. rowMaximum is the
 * largest magnitude along the last axis, which is kept with size 1. The quantized numbers of an all-zero row are
 * arbitrary, because its maximum, 0, makes every product 0.
 */
export function quantizeRowsInGraph(
  graph: GraphBuilder,
  input: string,
  range: RowRange,
): { rowMaximum: string; quantized: string } {
  const magnitude = range.zeroPoint === 0 && range.type === 'uint8' ? input : graph.op('Abs', [input]);
  const rowMaximum = graph.op('ReduceMax', [magnitude], { attributes: { axes: [-1], keepdims: 1 } });
  const relative = graph.op('Div', [input, rowMaximum]);
  const quantized = graph.op('QuantizeLinear', [
    relative,
    graph.float(1 / range.levels),
    range.type === 'int8' ? graph.int8(range.zeroPoint) : graph.uint8(range.zeroPoint),
  ]);
  return { rowMaximum, quantized };
}

/**
 * Returns a function that returns one part of a result. The first call computes the result; after `parts` calls it is
 * freed. The parts are constants of a graph that are written one after the other, and the matrix is read only once.
 */
export function takenOnce<Result extends object>(
  make: () => Promise<Result>,
  parts: number,
): <Key extends keyof Result>(key: Key) => Promise<Result[Key]> {
  let pending: Promise<Result> | undefined;
  let left = parts;
  return async (key) => {
    pending ??= make();
    const result = await pending;
    left -= 1;
    if (left === 0) {
      pending = undefined;
      left = parts;
    }
    return result[key];
  };
}

/** Smaller matrices stay float32, because int8 saves too little. */
const minQuantizedValues = 65_536;

interface Part {
  readonly name: string;
  readonly dtype: 'I8' | 'F32';
  readonly shape: readonly number[];
  readonly bytes: Uint8Array;
}

/**
 * Writes the `model.safetensors` of a model directory into another directory: large matrices as int8 with one
 * float32 scale per row (`<name>_scale`, `[rows, 1]`), other tensors as float32. The file has half the size of
 * float16, and the int8 values are the same as the compiler's. Errors: UnsupportedModelError if there is
 * not a safetensors file.
 */
export async function quantizeCheckpoint(modelDirectory: string, targetDirectory: string): Promise<void> {
  const reader = await SafetensorsReader.open(modelDirectory);
  try {
    const parts: Part[] = [];
    for (const name of reader.names()) parts.push(...(await convert(reader, name)));
    await mkdir(targetDirectory, { recursive: true });
    await writeSafetensors(join(targetDirectory, 'model.safetensors'), parts);
  } finally {
    await reader.close();
  }
}

async function convert(reader: SafetensorsReader, name: string): Promise<Part[]> {
  const shape = reader.shape(name);
  const values = await reader.readFloat32(name);
  const [rows = 0, columns = 0] = shape;
  if (shape.length !== 2 || values.length < minQuantizedValues)
    return [{ name, dtype: 'F32', shape, bytes: new Uint8Array(values.buffer) }];
  const quantized = quantizeRows(values, rows, columns);
  return [
    { name, dtype: 'I8', shape, bytes: new Uint8Array(quantized.values.buffer) },
    { name: `${name}_scale`, dtype: 'F32', shape: [rows, 1], bytes: new Uint8Array(quantized.scales.buffer) },
  ];
}

/** Writes header and tensors; spaces pad the header, so that the tensors start at a multiple of eight. */
async function writeSafetensors(path: string, unordered: readonly Part[]): Promise<void> {
  // Float32 comes before int8, so that every tensor starts at a multiple of its element size.
  const parts = unordered.toSorted((left, right) => left.dtype.localeCompare(right.dtype));
  const header: Record<string, unknown> = { __metadata__: { format: 'pt' } };
  let offset = 0;
  for (const { name, dtype, shape, bytes } of parts) {
    header[name] = { dtype, shape, data_offsets: [offset, offset + bytes.byteLength] };
    offset += bytes.byteLength;
  }
  const json = Buffer.from(JSON.stringify(header));
  const padded = Buffer.concat([json, Buffer.alloc((8 - (json.length % 8)) % 8, ' ')]);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(padded.length));
  const file = await open(path, 'w');
  try {
    for (const piece of [length, padded, ...parts.map(({ bytes }) => bytes)]) await file.writeFile(piece);
  } finally {
    await file.close();
  }
}
