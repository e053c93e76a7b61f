import { halfAt, setHalf, type BlockFormat, type BlockMatrix, type Matrix } from '../checkpoint/matrix.js';
import { readPieces } from '../checkpoint/weights.js';
import { largestMagnitude, roundToByte, takenOnce } from './quantize.js';

/** Number of weights of a row that share a scale. */
export type BlockSize = 32 | 128;

const levels = 16;
const middle = 8;

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
  { bits, block, zeroPoints }: BlockFormat,
  search = searchFor(rows * columns),
): BlockMatrix {
  if (bits === 8) return quantizeBytes(values, rows, columns, block);
  const blocks = Math.ceil(columns / block);
  const result = emptyBlocks(rows, blocks, block, zeroPoints);
  const fit = new BlockFit(values, zeroPoints ? search : thorough);
  for (let row = 0; row < rows; row++)
    for (let index = 0; index < blocks; index++) {
      const start = row * columns + index * block;
      const end = Math.min(start + block, (row + 1) * columns);
      if (zeroPoints) fit.chooseInRange(start, end);
      else fit.chooseAroundMiddle(start, end);
      const place = row * blocks + index;
      result.scales[place] = fit.pack(start, end, result.values, (place * block) / 2);
      if (result.zeroPoints)
        setHalf(result.zeroPoints, row * Math.ceil(blocks / 2) * 2 + index, fit.zeroPoint);
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

/** Returns bytes whose halves are both 8. */
const filledHalves = (length: number): Uint8Array => new Uint8Array(length).fill(middle * (levels + 1));

/** Returns blocks of zero weights. */
function emptyBlocks(rows: number, blocks: number, block: number, zeroPoints: boolean): BlockMatrix {
  return {
    values: filledHalves((rows * blocks * block) / 2),
    scales: new Float32Array(rows * blocks),
    ...(zeroPoints && { zeroPoints: filledHalves(rows * Math.ceil(blocks / 2)) }),
  };
}

/**
 * Computes step size and zero point, block by block. It does not allocate objects for a block, because a large model
 * has millions of blocks.
 */
class BlockFit {
  zeroPoint = middle;
  private inverseStep = 0;
  private most = -1;

  constructor(
    private readonly values: Float32Array,
    private readonly search: Search,
  ) {}

  /** Symmetric: the value of the largest magnitude takes the side with one more level. */
  chooseAroundMiddle(start: number, end: number): void {
    const { values } = this;
    let largest = 0;
    for (let i = start; i < end; i++) if (Math.abs(values[i]!) > Math.abs(largest)) largest = values[i]!;
    this.reset();
    if (largest !== 0) this.trySymmetric(start, end, largest);
  }

  /** With a zero point the levels cover the range of the block, which need not be symmetric. */
  chooseInRange(start: number, end: number): void {
    const { values, search } = this;
    let [low, high] = [0, 0];
    for (let i = start; i < end; i++) {
      const value = values[i]!;
      if (value > high) high = value;
      else if (value < low) low = value;
    }
    this.reset();
    if (low === high) return;
    for (const coverage of search.coverages) {
      const inverseStep = (levels - 1) / ((high - low) * coverage);
      this.try(start, end, inverseStep, Math.round(-low * coverage * inverseStep));
    }
    this.trySymmetric(start, end, high > -low ? high : low);
  }

  /** Writes the levels of the block; returns its scale, the one with the least squared error for them. */
  pack(start: number, end: number, target: Uint8Array, offset: number): number {
    const { values, inverseStep, zeroPoint } = this;
    const shift = zeroPoint + 0.5;
    let [products, squares] = [0, 0];
    for (let i = start, byte = offset; i < end; i += 2, byte++) {
      const first = values[i]!;
      const second = i + 1 < end ? values[i + 1]! : 0;
      const low = levelOf(first * inverseStep + shift);
      const high = levelOf(second * inverseStep + shift);
      target[byte] = low | (high << 4);
      products += first * (low - zeroPoint) + second * (high - zeroPoint);
      squares += (low - zeroPoint) ** 2 + (high - zeroPoint) ** 2;
    }
    return squares > 0 ? products / squares : 0;
  }

  private reset(): void {
    this.zeroPoint = middle;
    this.inverseStep = 0;
    this.most = -1;
  }

  private trySymmetric(start: number, end: number, largest: number): void {
    for (const reach of this.search.reaches) this.try(start, end, -reach / largest, middle);
  }

  private try(start: number, end: number, inverseStep: number, zeroPoint: number): void {
    const gain = gainOf(this.values, start, end, inverseStep, zeroPoint);
    if (gain <= this.most) return;
    this.most = gain;
    this.inverseStep = inverseStep;
    this.zeroPoint = zeroPoint;
  }
}

/**
 * Returns the quality of a step size. With the best scale for rounded values q the squared error is
 * Σx² − (Σxq)² / Σq², so the second term is compared. Two sums run in parallel, because each addition waits for the
 * previous one.
 */
function gainOf(
  values: Float32Array,
  start: number,
  end: number,
  inverseStep: number,
  zeroPoint: number,
): number {
  const shift = zeroPoint + 0.5;
  let [even, odd, squares] = [0, 0, 0];
  for (let i = start; i < end; i += 2) {
    const first = values[i]!;
    const second = i + 1 < end ? values[i + 1]! : 0;
    let low = (first * inverseStep + shift) | 0;
    let high = (second * inverseStep + shift) | 0;
    if ((low | high) >>> 4 !== 0) {
      low = levelOf(low);
      high = levelOf(high);
    }
    low = (low - zeroPoint) | 0;
    high = (high - zeroPoint) | 0;
    even += first * low;
    odd += second * high;
    squares = (squares + Math.imul(low, low) + Math.imul(high, high)) | 0;
  }
  const products = even + odd;
  return squares > 0 ? (products * products) / squares : 0;
}

const levelOf = (position: number): number => Math.min(levels - 1, Math.max(0, position | 0));

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
