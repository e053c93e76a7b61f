/** The integers of the WebAssembly kernels are those of plain arithmetic with doubles, to the last bit. */
import { describe, expect, it } from 'vitest';
import { randomNumbers } from '../checkpoint/checkpoint.fixture.js';
import { type BlockFormat, type BlockMatrix, type Matrix, setHalf } from '../checkpoint/matrix.js';
import { storedFloats, type StoredValues, toFloats } from '../kernels/stored-values.js';
import { quantizeBlocks, quantizeBlocksLazily } from './blocks.js';
import { quantizeLazily, quantizeRows } from './quantize.js';

/**
 * Sums of random numbers, of which many have few bits, as those of checkpoints; one row in eleven is zero, one in seven
 * has the same magnitude with both signs as its largest.
 */
function weightsOf(rows: number, columns: number, seed = 5): Float32Array {
  const random = randomNumbers(seed);
  const values = Float32Array.from({ length: rows * columns }, (_unused, index) => {
    const value = (random() + random() + random()) / 40;
    return index % 3 === 0 ? Math.round(value * 256) / 256 : value;
  });
  for (let row = 0; row < rows; row++) {
    const line = values.subarray(row * columns, (row + 1) * columns);
    if (row % 11 === 3) line.fill(0);
    if (row % 7 === 5) line.set([-0.25, 0.25], row % (columns - 2));
  }
  return values;
}

/** Bytes are compared much faster than numbers. */
const bytesOf = (parts: object): Record<string, string> =>
  Object.fromEntries(
    Object.entries(parts as Record<string, Uint8Array>).map(([name, { buffer, byteOffset, byteLength }]) => [
      name,
      Buffer.from(buffer, byteOffset, byteLength).toString('hex'),
    ]),
  );

const largestOf = (values: readonly number[]) =>
  values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);

function plainRows(values: Float32Array, rows: number, columns: number) {
  const scales = new Float32Array(rows);
  const rounded = new Int8Array(values.length);
  for (let row = 0; row < rows; row++) {
    const line = [...values.subarray(row * columns, (row + 1) * columns)];
    const largest = Math.max(largestOf(line), 1e-8);
    scales[row] = largest / 127;
    rounded.set(
      line.map((value) => Math.trunc(value * (127 / largest) + 128.5) - 128),
      row * columns,
    );
  }
  return { values: rounded, scales };
}

const transposed = (values: Int8Array, rows: number, columns: number) =>
  values.map((_value, index) => values[(index % rows) * columns + Math.floor(index / rows)]!);

/** A matrix that is read in pieces of a few rows. */
const inPieces = (stored: StoredValues, rows: number, columns: number, step: number): Matrix => ({
  name: 'pieces',
  rows,
  columns,
  read: () => Promise.resolve(toFloats(stored)),
  readPieces: async function* () {
    const rowBytes = stored.bytes.length / rows;
    for (let first = 0; first < rows; first += step) {
      const count = Math.min(step, rows - first);
      const bytes = stored.bytes.subarray(first * rowBytes, (first + count) * rowBytes);
      yield await Promise.resolve({ first, count, values: { type: stored.type, bytes } });
    }
  },
});

describe('int8 with a scale per row', () => {
  it.each([
    [40, 64],
    [29, 37],
    [5, 3],
    [9, 9001],
  ])('rounds %i × %i', async (rows, columns) => {
    const values = weightsOf(rows, columns);
    const plain = plainRows(values, rows, columns);
    expect(bytesOf(quantizeRows(values, rows, columns))).toEqual(bytesOf(plain));
    const parts = quantizeLazily(inPieces(storedFloats(values), rows, columns, 12), true);
    const turned = { values: await parts.values(), scales: await parts.scales() };
    const expected = { ...plain, values: transposed(plain.values, rows, columns) };
    expect(bytesOf(turned)).toEqual(bytesOf(expected));
  });

  it('rounds halves and bfloat16 as the floats that they are', async () => {
    const [rows, columns] = [150, 513];
    const words = Uint16Array.from(new Uint32Array(weightsOf(rows, columns).buffer), (bits) => bits >>> 16);
    for (const type of ['BF16', 'F16'] as const) {
      const stored: StoredValues = { type, bytes: new Uint8Array(words.buffer) };
      const parts = quantizeLazily(inPieces(stored, rows, columns, 100));
      const plain = plainRows(toFloats(stored), rows, columns);
      const rounded = { values: await parts.values(), scales: await parts.scales() };
      expect(bytesOf(rounded)).toEqual(bytesOf(plain));
    }
  });
});

interface Fit {
  readonly inverseStep: number;
  readonly zeroPoint: number;
}

const levelOf = (value: number, { inverseStep, zeroPoint }: Fit) =>
  Math.min(15, Math.max(0, Math.trunc(value * inverseStep + (zeroPoint + 0.5))));

/** Sums of products and of squares of the levels; even and odd places are added up apart. */
function gainOf(values: readonly number[], fit: Fit): number {
  const sums = [0, 0];
  let squares = 0;
  for (const [index, value] of values.entries()) {
    const distance = levelOf(value, fit) - fit.zeroPoint;
    sums[index % 2]! += value * distance;
    squares += distance ** 2;
  }
  return squares > 0 ? (sums[0]! + sums[1]!) ** 2 / squares : 0;
}

function candidatesOf(values: readonly number[], zeroPoints: boolean, isThorough: boolean): Fit[] {
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
  if (low === high) return [];
  const coverages = isThorough ? [1, 0.94, 0.88, 0.82, 0.76] : [0.93, 0.84];
  const ranges = coverages.map((coverage) => {
    const inverseStep = 15 / ((high - low) * coverage);
    return { inverseStep, zeroPoint: Math.round(-low * coverage * inverseStep) };
  });
  const reaches = isThorough ? [7, 7.5, 8, 8.5, 9.1, 9.8, 10.6] : [8.5];
  const first = values.find((value) => Math.abs(value) === largestOf(values))!;
  const largest = !zeroPoints ? first : high > -low ? high : low;
  const symmetric = reaches.map((reach) => ({ inverseStep: -reach / largest, zeroPoint: 8 }));
  return zeroPoints ? [...ranges, ...symmetric] : symmetric;
}

/** The best candidate, and its scale: the one with the least squared error. */
function fitOf(values: readonly number[], zeroPoints: boolean, isThorough: boolean): Fit & { scale: number } {
  let [best, most]: [Fit, number] = [{ inverseStep: 0, zeroPoint: 8 }, -1];
  for (const candidate of candidatesOf(values, zeroPoints, isThorough)) {
    const gain = gainOf(values, candidate);
    if (gain > most) [best, most] = [candidate, gain];
  }
  let [products, squares] = [0, 0];
  for (let i = 0; i < values.length; i += 2) {
    const [one, other] = [values[i]!, values[i + 1] ?? 0];
    const [first, second] = [levelOf(one, best) - best.zeroPoint, levelOf(other, best) - best.zeroPoint];
    products += one * first + other * second;
    squares += first ** 2 + second ** 2;
  }
  return { ...best, scale: squares > 0 ? products / squares : 0 };
}

/** The blocks of a row, without padding. */
const blocksOf = (values: Float32Array, row: number, columns: number, block: number): number[][] =>
  Array.from({ length: Math.ceil(columns / block) }, (_unused, index) => [
    ...values.subarray(row * columns + index * block, row * columns + Math.min((index + 1) * block, columns)),
  ]);

function plainHalves(
  values: Float32Array,
  rows: number,
  columns: number,
  { block, zeroPoints }: BlockFormat,
  isThorough: boolean,
): BlockMatrix {
  const blocks = Math.ceil(columns / block);
  const zeroBytes = Math.ceil(blocks / 2);
  const halves = new Uint8Array((rows * blocks * block) / 2).fill(0x88);
  const zeros = new Uint8Array(rows * zeroBytes).fill(0x88);
  const scales = new Float32Array(rows * blocks);
  for (let row = 0; row < rows; row++)
    for (const [index, part] of blocksOf(values, row, columns, block).entries()) {
      const fit = fitOf(part, zeroPoints, isThorough);
      const place = row * blocks + index;
      // The partner of the last weight has the level of 0.
      for (let i = 0; i < Math.ceil(part.length / 2) * 2; i++)
        setHalf(halves, place * block + i, levelOf(part[i] ?? 0, fit));
      scales[place] = fit.scale;
      setHalf(zeros, row * zeroBytes * 2 + index, fit.zeroPoint);
    }
  return { values: halves, scales, ...(zeroPoints && { zeroPoints: zeros }) };
}

function plainBytes(values: Float32Array, rows: number, columns: number, block: number): BlockMatrix {
  const blocks = Math.ceil(columns / block);
  const bytes = new Uint8Array(rows * blocks * block).fill(128);
  const scales = new Float32Array(rows * blocks);
  for (let row = 0; row < rows; row++)
    for (const [index, part] of blocksOf(values, row, columns, block).entries()) {
      const largest = largestOf(part);
      const inverse = largest > 0 ? 127 / largest : 0;
      const place = row * blocks + index;
      scales[place] = largest / 127;
      bytes.set(
        part.map((value) => Math.trunc(value * inverse + 128.5)),
        place * block,
      );
    }
  return { values: bytes, scales };
}

describe('blocks', () => {
  const shapes = [
    [33, 256, 128],
    [21, 100, 32],
    [12, 45, 32],
    [10, 9000, 128],
  ] as const;

  it.each(shapes)('of 8 bits: rounds %i × %i in blocks of %i', async (rows, columns, block) => {
    const values = weightsOf(rows, columns);
    const source = inPieces(storedFloats(values), rows, columns, 7);
    const take = quantizeBlocksLazily(source, { bits: 8, block, zeroPoints: false });
    const result = { values: await take('values'), scales: await take('scales') };
    expect(bytesOf(result)).toEqual(bytesOf(plainBytes(values, rows, columns, block)));
  });

  it.each(shapes)('of 4 bits: rounds %i × %i in blocks of %i', (rows, columns, block) => {
    const values = weightsOf(rows, columns);
    for (const zeroPoints of [true, false]) {
      const format = { bits: 4, block, zeroPoints } as const;
      const result = quantizeBlocks(values, rows, columns, format);
      expect(bytesOf(result)).toEqual(bytesOf(plainHalves(values, rows, columns, format, true)));
    }
  });

  it('of 4 bits: tries fewer steps for a large matrix, in pieces too', async () => {
    const [rows, columns] = [1030, 1032];
    const values = weightsOf(rows, columns);
    const format = { bits: 4, block: 128, zeroPoints: true } as const;
    const plain = plainHalves(values, rows, columns, format, false);
    const take = quantizeBlocksLazily(inPieces(storedFloats(values), rows, columns, 777), format);
    const result = {
      values: await take('values'),
      scales: await take('scales'),
      zeroPoints: await take('zeroPoints'),
    };
    expect(bytesOf(result)).toEqual(bytesOf(plain));
  });
});

describe('toFloats', () => {
  const all = Uint16Array.from({ length: 65_536 }, (_unused, bits) => bits);
  const bytes = new Uint8Array(all.buffer);

  it('widens each bfloat16', () => {
    const expected = new Float32Array(Uint32Array.from(all, (bits) => bits << 16).buffer);
    expect(bytesOf([toFloats({ type: 'BF16', bytes })])).toEqual(bytesOf([expected]));
  });

  it('widens each half', () => {
    const expected = Float32Array.from(all, (bits) => {
      const [exponent, fraction] = [(bits >> 10) & 31, bits & 1023];
      const sign = bits & 0x8000 ? -1 : 1;
      if (exponent === 31) return fraction ? Number.NaN : sign * Infinity;
      return exponent === 0
        ? sign * fraction * 2 ** -24
        : sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
    });
    const widened = toFloats({ type: 'F16', bytes });
    expect(widened.findIndex((value, index) => !Object.is(value, expected[index]))).toBe(-1);
  });
});
