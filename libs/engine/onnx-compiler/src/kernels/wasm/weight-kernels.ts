/**
 * Conversion and rounding of the weights of a checkpoint, in AssemblyScript. `npm run build` compiles it to
 * dist/weight-kernels.wasm; {@link ../kernels.ts} calls it. Addresses are bytes in the memory of the module. Matrices are row
 * by row. Kernels may read and write up to 64 bytes behind the last row.
 *
 * Products are those of doubles, as in JavaScript, so that no weight is rounded differently by the order of the work.
 */
import { fitBlock, largestLane } from './fit-block';

/** Widens bfloat16, the upper half of a float, to floats. */
export function widenBfloat16(source: usize, target: usize, count: usize): void {
  const zero = i16x8.splat(0);
  for (const end = source + (count << 1); source < end; source += 16, target += 32) {
    const bits = v128.load(source);
    v128.store(target, v128.shuffle<i16>(zero, bits, 0, 8, 1, 9, 2, 10, 3, 11));
    v128.store(target, v128.shuffle<i16>(zero, bits, 4, 12, 5, 13, 6, 14, 7, 15), 16);
  }
}

/** 2¹¹²: the exponent of a half has 15 added, the one of a float 127. */
const exponentShift: f32 = 5.192296858534828e33;

/** Widens half precision to floats. */
export function widenHalf(source: usize, target: usize, count: usize): void {
  for (const end = source + (count << 1); source < end; source += 8, target += 16) {
    const bits = v128.load_ext<u16>(source);
    const sign = i32x4.shl(v128.and(bits, i32x4.splat(0x8000)), 16);
    const magnitude = i32x4.shl(v128.and(bits, i32x4.splat(0x7fff)), 13);
    const isInfinite = i32x4.ge_s(magnitude, i32x4.splat(0x7c00 << 13));
    const value = f32x4.mul(magnitude, f32x4.splat(exponentShift));
    const full = v128.or(value, v128.and(isInfinite, i32x4.splat(0x7f800000)));
    v128.store(target, v128.or(full, sign));
  }
}

/** Largest magnitude of floats. */
function largestMagnitude(values: usize, count: usize): f32 {
  let vector = f32x4.splat(0);
  const end = values + (count << 2);
  for (const last = values + ((count & ~3) << 2); values < last; values += 16)
    vector = f32x4.pmax(vector, f32x4.abs(v128.load(values)));
  let largest = largestLane(vector);
  for (; values < end; values += 4) {
    const magnitude = abs(load<f32>(values));
    if (magnitude > largest) largest = magnitude;
  }
  return largest;
}

/** Rounds four floats, and adds 128. */
function roundFour(values: v128, inverse: v128): v128 {
  const half = f64x2.splat(128.5);
  const swapped = v128.shuffle<i64>(values, values, 1, 0);
  const low = f64x2.add(f64x2.mul(f64x2.promote_low_f32x4(values), inverse), half);
  const high = f64x2.add(f64x2.mul(f64x2.promote_low_f32x4(swapped), inverse), half);
  return v128.shuffle<i64>(i32x4.trunc_sat_f64x2_s_zero(low), i32x4.trunc_sat_f64x2_s_zero(high), 0, 2);
}

/** Rounds floats to bytes, in groups of 16: value × `inverse` + 128, with the bits of `flip` inverted. */
function roundToBytes(values: usize, count: usize, inverse: f64, flip: i8, output: usize): void {
  const factor = f64x2.splat(inverse);
  const flips = i8x16.splat(flip);
  for (const end = output + count; output < end; output += 16, values += 64) {
    const first = roundFour(v128.load(values), factor);
    const second = roundFour(v128.load(values, 16), factor);
    const third = roundFour(v128.load(values, 32), factor);
    const fourth = roundFour(v128.load(values, 48), factor);
    const low = i16x8.narrow_i32x4_u(first, second);
    const high = i16x8.narrow_i32x4_u(third, fourth);
    v128.store(output, v128.xor(i8x16.narrow_i16x8_u(low, high), flips));
  }
}

/** Rounds each row to int8 by its largest magnitude. `stride`: bytes from one row of the output to the next. */
export function quantizeRows(
  values: usize,
  rows: usize,
  columns: usize,
  output: usize,
  stride: usize,
  scales: usize,
): void {
  for (const end = scales + (rows << 2); scales < end; scales += 4) {
    const largest = max(<f64>largestMagnitude(values, columns), 1e-8);
    store<f32>(scales, <f32>(largest / 127));
    roundToBytes(values, columns, 127 / largest, -128, output);
    values += columns << 2;
    output += stride;
  }
}

/** Rounds a block to bytes around 128 by its largest magnitude. */
function fitByteBlock(values: usize, count: usize, output: usize, scale: usize): void {
  const largest = <f64>largestMagnitude(values, count);
  store<f32>(scale, <f32>(largest / 127));
  roundToBytes(values, count, largest > 0 ? 127 / largest : 0, 0, output);
}

/** Sets the 4-bit number of a byte; the other one of a new byte is 8. */
function setHalf(place: usize, isSecond: bool, value: i32): void {
  store<u8>(place, <u8>(isSecond ? (load<u8>(place) & 15) | (value << 4) : value | 0x80));
}

/**
 * Rounds each block of a row to 8 bits, around 128, or to 4 (fit-block.ts). The last block of a row is padded with 128 or 8.
 * With 4 bits, `search` is described there, and `zeroPoints` has two a byte, with whole bytes for a row; it is 0 for a zero
 * point of 8.
 */
export function quantizeBlocks(
  values: usize,
  rows: usize,
  columns: usize,
  block: usize,
  bits: usize,
  output: usize,
  scales: usize,
  zeroPoints: usize,
  search: usize,
): void {
  const blockBytes = (block * bits) >> 3;
  const padding: u8 = bits == 8 ? 128 : 0x88;
  for (let row: usize = 0; row < rows; row++) {
    let isSecond = false;
    for (let start: usize = 0; start < columns; start += block) {
      const count = min(block, columns - start);
      if (bits == 8) fitByteBlock(values, count, output, scales);
      else {
        const zeroPoint = fitBlock(values, count, output, scales, search, zeroPoints == 0);
        if (zeroPoints) setHalf(zeroPoints, isSecond, zeroPoint);
        if (zeroPoints && isSecond) zeroPoints++;
        isSecond = !isSecond;
      }
      const used = (count * bits + 7) >> 3;
      if (used < blockBytes) memory.fill(output + used, padding, blockBytes - used);
      values += count << 2;
      output += blockBytes;
      scales += 4;
    }
    if (zeroPoints && isSecond) zeroPoints++;
  }
}

/** Eight bytes of each of two rows, side by side. */
function twoRows(source: usize, stride: usize): v128 {
  return v128.shuffle<i8>(
    v128.load64_zero(source),
    v128.load64_zero(source + stride),
    0,
    16,
    1,
    17,
    2,
    18,
    3,
    19,
    4,
    20,
    5,
    21,
    6,
    22,
    7,
    23,
  );
}

/**
 * Transposes bytes, in squares of 8. Rows of source and target begin `sourceStride` and `targetStride` bytes apart, which are
 * enough for whole squares.
 */
export function transposeBytes(
  source: usize,
  rows: usize,
  columns: usize,
  sourceStride: usize,
  target: usize,
  targetStride: usize,
): void {
  for (let column: usize = 0; column < columns; column += 8)
    for (let row: usize = 0; row < rows; row += 8) {
      const from = source + row * sourceStride + column;
      const ab = twoRows(from, sourceStride);
      const cd = twoRows(from + 2 * sourceStride, sourceStride);
      const ef = twoRows(from + 4 * sourceStride, sourceStride);
      const gh = twoRows(from + 6 * sourceStride, sourceStride);
      const left = v128.shuffle<i16>(ab, cd, 0, 8, 1, 9, 2, 10, 3, 11);
      const leftEnd = v128.shuffle<i16>(ab, cd, 4, 12, 5, 13, 6, 14, 7, 15);
      const right = v128.shuffle<i16>(ef, gh, 0, 8, 1, 9, 2, 10, 3, 11);
      const rightEnd = v128.shuffle<i16>(ef, gh, 4, 12, 5, 13, 6, 14, 7, 15);
      let to = target + column * targetStride + row;
      to = storeTwo(to, targetStride, v128.shuffle<i32>(left, right, 0, 4, 1, 5));
      to = storeTwo(to, targetStride, v128.shuffle<i32>(left, right, 2, 6, 3, 7));
      to = storeTwo(to, targetStride, v128.shuffle<i32>(leftEnd, rightEnd, 0, 4, 1, 5));
      storeTwo(to, targetStride, v128.shuffle<i32>(leftEnd, rightEnd, 2, 6, 3, 7));
    }
}

/** Stores the halves of a vector in two rows; returns the place of the next row. */
function storeTwo(target: usize, stride: usize, bytes: v128): usize {
  v128.store64_lane(target, bytes, 0);
  v128.store64_lane(target + stride, bytes, 1);
  return target + 2 * stride;
}
