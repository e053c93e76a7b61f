import { halfAt, setHalf, type BlockFormat, type BlockMatrix, type Matrix } from '../checkpoint/matrix.js';
import { readPieces } from '../checkpoint/weights.js';
import { largestMagnitude, roundToByte, takenOnce } from './quantize.js';

/** How many weights of a row share a scale. */
export type BlockSize = 32 | 128;

const levels = 16;
const middle = 8;

/** What the search for the step size of a block tries. */
interface Search {
  /**
   * Where the value of the largest magnitude is placed, in steps from the zero point: up to 8 the block is covered, beyond it
   * the largest values are cut and the others get finer steps.
   */
  readonly reaches: readonly number[];
  /** Shares of the range from the smallest to the largest value that are covered, with zero points. */
  readonly coverages: readonly number[];
}
const thorough: Search = {
  reaches: [7, 7.5, 8, 8.5, 9.1, 9.8, 10.6],
  coverages: [1, 0.94, 0.88, 0.82, 0.76],
};
/** A third of the time; the error of normally distributed weights grows by half a percent. */
const quick: Search = { reaches: [8.5], coverages: [0.97, 0.88, 0.79] };
/** The search is quick in matrices of more values. */
const mostThorough = 1 << 20;

/** The places of a block's values. */
interface Block {
  readonly start: number;
  readonly end: number;
}

const searchFor = (values: number): Search => (values > mostThorough ? quick : thorough);

/** Step size and zero point of a block. */
interface BlockFit {
  readonly inverseStep: number;
  readonly zeroPoint: number;
  readonly scale: number;
}

/**
 * Rounds a matrix block by block. With 4 bits several step sizes are tried for each block; the scale is then the one
 * with the least squared error for the rounded values.
 */
export function quantizeBlocks(
  values: Float32Array,
  rows: number,
  columns: number,
  { bits, block, zeroPoints }: BlockFormat,
  search = searchFor(rows * columns),
): BlockMatrix {
  if (bits === 8) return quantizeBytes(values, rows, columns, block);
  const blocks = Math.ceil(columns / block);
  const result = emptyBlocks(rows, blocks, block, zeroPoints);
  for (let row = 0; row < rows; row++)
    for (let index = 0; index < blocks; index++) {
      const start = row * columns + index * block;
      const end = Math.min(start + block, (row + 1) * columns);
      const best = zeroPoints ? fitRange(values, { start, end }, search) : fitMiddle(values, { start, end });
      result.scales[row * blocks + index] = best.scale;
      packBlock(values, { start, end }, best, result.values, ((row * blocks + index) * block) / 2);
      if (result.zeroPoints)
        setHalf(result.zeroPoints, row * Math.ceil(blocks / 2) * 2 + index, best.zeroPoint);
    }
  return result;
}

/** 8 bits: the largest magnitude of a block is 127 steps from the zero point, 128. */
function quantizeBytes(values: Float32Array, rows: number, columns: number, block: number): BlockMatrix {
  const blocks = Math.ceil(columns / block);
  const bytes = new Uint8Array(rows * blocks * block).fill(128);
  const scales = new Float32Array(rows * blocks);
  for (let index = 0; index < rows * blocks; index++) {
    const start = Math.floor(index / blocks) * columns + (index % blocks) * block;
    const length = Math.min(block, columns - (index % blocks) * block);
    const largest = largestMagnitude(values, start, start + length);
    scales[index] = largest / 127;
    const inverse = largest > 0 ? 127 / largest : 0;
    for (let i = 0; i < length; i++) bytes[index * block + i] = roundToByte(values[start + i]! * inverse);
  }
  return { values: bytes, scales };
}

/** Bytes whose halves are both 8. */
const filledHalves = (length: number): Uint8Array => new Uint8Array(length).fill(middle * (levels + 1));

/** Blocks of weight zero. */
function emptyBlocks(rows: number, blocks: number, block: number, zeroPoints: boolean): BlockMatrix {
  return {
    values: filledHalves((rows * blocks * block) / 2),
    scales: new Float32Array(rows * blocks),
    ...(zeroPoints && { zeroPoints: filledHalves(rows * Math.ceil(blocks / 2)) }),
  };
}

/** Symmetric: the value of the largest magnitude takes the side that has one level more. */
function fitMiddle(values: Float32Array, { start, end }: Block): BlockFit {
  let largest = 0;
  for (let i = start; i < end; i++) if (Math.abs(values[i]!) > Math.abs(largest)) largest = values[i]!;
  if (largest === 0) return { inverseStep: 0, zeroPoint: middle, scale: 0 };
  return bestFit(values, { start, end }, symmetricSteps(largest, thorough));
}

const symmetricSteps = (largest: number, { reaches }: Search) =>
  reaches.map((reach) => ({ inverseStep: -reach / largest, zeroPoint: middle }));

/** With a zero point the levels cover the range of the block, which need not be symmetric. */
function fitRange(values: Float32Array, { start, end }: Block, search: Search): BlockFit {
  let [low, high] = [0, 0];
  for (let i = start; i < end; i++) {
    low = Math.min(low, values[i]!);
    high = Math.max(high, values[i]!);
  }
  if (low === high) return { inverseStep: 0, zeroPoint: middle, scale: 0 };
  const ranges = search.coverages.map((coverage) => {
    const inverseStep = (levels - 1) / ((high - low) * coverage);
    return { inverseStep, zeroPoint: Math.round(-low * coverage * inverseStep) };
  });
  return bestFit(values, { start, end }, [...ranges, ...symmetricSteps(high > -low ? high : low, search)]);
}

/**
 * Chooses the candidate with the least squared error. With the best scale for rounded values q that error is
 * Σx² − (Σxq)² / Σq², so the second term is compared.
 */
function bestFit(
  values: Float32Array,
  { start, end }: Block,
  candidates: readonly { inverseStep: number; zeroPoint: number }[],
): BlockFit {
  let best: BlockFit | undefined;
  let most = -1;
  for (const { inverseStep, zeroPoint } of candidates) {
    const shift = zeroPoint + 0.5;
    let products = 0;
    let squares = 0;
    for (let i = start; i < end; i++) {
      const value = values[i]!;
      let level = (value * inverseStep + shift) | 0;
      if (level > 15) level = 15;
      else if (level < 0) level = 0;
      level -= zeroPoint;
      products += value * level;
      squares += level * level;
    }
    const gain = squares > 0 ? (products * products) / squares : 0;
    if (gain <= most) continue;
    most = gain;
    best = { inverseStep, zeroPoint, scale: squares > 0 ? products / squares : 0 };
  }
  return best!;
}

function packBlock(
  values: Float32Array,
  { start, end }: Block,
  { inverseStep, zeroPoint }: BlockFit,
  target: Uint8Array,
  offset: number,
): void {
  const shift = zeroPoint + 0.5;
  const filler = zeroPoint;
  for (let i = start, byte = offset; i < end; i += 2, byte++) {
    const low = levelOf(values[i]! * inverseStep + shift);
    const high = i + 1 < end ? levelOf(values[i + 1]! * inverseStep + shift) : filler;
    target[byte] = low | (high << 4);
  }
}

const levelOf = (position: number): number => Math.min(levels - 1, Math.max(0, position | 0));

/** The weights that blocks stand for, `[rows, columns]`. */
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
  const { rows, columns } = source;
  const blocks = Math.ceil(columns / format.block);
  const search = searchFor(rows * columns);
  const result: BlockMatrix = {
    values: new Uint8Array((rows * blocks * format.block * format.bits) / 8),
    scales: new Float32Array(rows * blocks),
    ...(format.zeroPoints && { zeroPoints: new Uint8Array(rows * Math.ceil(blocks / 2)) }),
  };
  for await (const { first, count, values } of readPieces(source)) {
    const piece = quantizeBlocks(values, count, columns, format, search);
    result.values.set(piece.values, (first * result.values.length) / rows);
    result.scales.set(piece.scales, first * blocks);
    if (piece.zeroPoints) result.zeroPoints?.set(piece.zeroPoints, first * Math.ceil(blocks / 2));
  }
  return result;
}

/**
 * The parts of a matrix in blocks, each taken once, in any order; the matrix is read when the first is taken.
 * Blocks of the checkpoint are taken as they are.
 */
export function quantizeBlocksLazily(source: Matrix, format: BlockFormat) {
  const quantize = async (): Promise<Required<BlockMatrix>> => {
    const result = source.blocks ? await source.blocks.read() : await quantizePieces(source, format);
    return { zeroPoints: new Uint8Array(0), ...result };
  };
  return takenOnce(quantize, format.zeroPoints ? 3 : 2);
}
