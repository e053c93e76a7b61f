import { halfAt, type BlockFormat, type BlockMatrix, type Matrix, type Piece } from '../checkpoint/matrix.js';
import { readPieces } from '../checkpoint/weights.js';
import { weightKernels } from '../kernels/kernels.js';
import { loadFloats, storedBytes, storedFloats } from '../kernels/stored-values.js';
import { rowsOfStrip, takenOnce } from './quantize.js';

/** Number of weights of a row that share a scale. */
export type BlockSize = 32 | 128;

/** Weights that share a scale: a number of a row, or with int8 a whole row. */
export type WeightBlock = BlockSize | 'row';

/** Candidates in the search for the step size of a block. */
interface Search {
  /**
   * Distance of the value with the largest magnitude from the zero point, in steps. Up to 8 the steps cover the whole
   * block; above 8 the largest values are clipped and the other values get finer steps.
   */
  readonly reaches: readonly number[];
  /** With zero points: fractions of the range from the smallest to the largest value to cover. */
  readonly coverages: readonly number[];
}
const thorough: Search = {
  reaches: [7, 7.5, 8, 8.5, 9.1, 9.8, 10.6],
  coverages: [1, 0.94, 0.88, 0.82, 0.76],
};
/** Takes a quarter of the time; the error of normally distributed weights is 1.3 percent higher. */
const quick: Search = { reaches: [8.5], coverages: [0.93, 0.84] };
/** Maximum number of values for the thorough search; larger matrices get the quick one. */
const mostThorough = 1 << 20;

const searchFor = (values: number): Search => (values > mostThorough ? quick : thorough);

/**
 * Rounds a matrix block by block. With 4 bits several step sizes are tried for each block; the scale is then the one
 * with the least squared error for the rounded values.
 */
export function quantizeBlocks(
  values: Float32Array,
  rows: number,
  columns: number,
  format: BlockFormat,
): BlockMatrix {
  const result = emptyBlocks(rows, columns, format);
  quantizePiece({ first: 0, count: rows, values: storedFloats(values) }, { rows, columns }, format, result);
  return result;
}

/** Returns memory for blocks. */
function emptyBlocks(rows: number, columns: number, { bits, block, zeroPoints }: BlockFormat): BlockMatrix {
  const blocks = Math.ceil(columns / block);
  return {
    values: new Uint8Array((rows * blocks * block * bits) / 8),
    scales: new Float32Array(rows * blocks),
    ...(zeroPoints && { zeroPoints: new Uint8Array(rows * Math.ceil(blocks / 2)) }),
  };
}

/** Rounds rows of a matrix into `target`. */
function quantizePiece(
  { first, count, values }: Piece,
  { rows, columns }: { rows: number; columns: number },
  { bits, block, zeroPoints }: BlockFormat,
  target: BlockMatrix,
): void {
  const kernels = weightKernels();
  const strip = Math.min(rowsOfStrip(columns), count);
  const blocks = Math.ceil(columns / block);
  const [rowBytes, zeroBytes] = [(blocks * block * bits) / 8, zeroPoints ? Math.ceil(blocks / 2) : 0];
  const [search, source, floats, bytes, scales, zeros] = kernels.reserve([
    searchBytes,
    storedBytes(values, strip * columns),
    strip * columns * 4,
    strip * rowBytes,
    strip * blocks * 4,
    strip * zeroBytes,
  ]);
  writeSearch(search, zeroPoints ? searchFor(rows * columns) : thorough);
  for (let row = 0; row < count; row += strip) {
    const height = Math.min(strip, count - row);
    loadFloats(values, { first: row * columns, count: height * columns }, { source, target: floats });
    kernels.run.quantizeBlocks(
      floats,
      height,
      columns,
      block,
      bits,
      bytes,
      scales,
      zeroPoints ? zeros : 0,
      search,
    );
    const place = first + row;
    target.values.set(kernels.bytes(bytes, height * rowBytes), place * rowBytes);
    target.scales.set(kernels.floats(scales, height * blocks), place * blocks);
    target.zeroPoints?.set(kernels.bytes(zeros, height * zeroBytes), place * zeroBytes);
  }
}

/** Bytes of a search with its candidates and a block, as wasm/fit-block.ts lays them out. */
const searchBytes = 608 + 128 * 4;
const offsetOfNumbers = 8;

/** Writes the search where the kernels read it. */
function writeSearch(address: number, { coverages, reaches }: Search): void {
  const kernels = weightKernels();
  const numbers = [...coverages, ...reaches];
  kernels.integersOf32(address, 2).set([coverages.length, reaches.length]);
  kernels.doubles(address + offsetOfNumbers, numbers.length).set(numbers);
}

/** Returns the weights of blocks, `[rows, columns]`. */
export function dequantizeBlocks(
  { values, scales, zeroPoints }: BlockMatrix,
  rows: number,
  columns: number,
  { bits, block }: Pick<BlockFormat, 'bits' | 'block'>,
): Float32Array {
  const result = new Float32Array(rows * columns);
  const blocks = Math.ceil(columns / block);
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++) {
      const index = Math.floor(column / block);
      const place = row * blocks * block + column;
      const zeroPoint = zeroPoints
        ? halfAt(zeroPoints, row * Math.ceil(blocks / 2) * 2 + index)
        : 2 ** (bits - 1);
      const level = bits === 4 ? halfAt(values, place) : values[place]!;
      result[row * columns + column] = (level - zeroPoint) * scales[row * blocks + index]!;
    }
  return result;
}

async function quantizePieces(source: Matrix, format: BlockFormat): Promise<BlockMatrix> {
  const result = emptyBlocks(source.rows, source.columns, format);
  for await (const piece of readPieces(source)) quantizePiece(piece, source, format, result);
  return result;
}

/**
 * Returns functions for the parts of a block-wise matrix, each called once, in any order. The first call reads the
 * matrix. Block-wise weights of the checkpoint are used unchanged.
 */
export function quantizeBlocksLazily(source: Matrix, format: BlockFormat) {
  const quantize = async (): Promise<Required<BlockMatrix>> => {
    const result = source.blocks ? await source.blocks.read() : await quantizePieces(source, format);
    return { zeroPoints: new Uint8Array(0), ...result };
  };
  return takenOnce(quantize, format.zeroPoints ? 3 : 2);
}
