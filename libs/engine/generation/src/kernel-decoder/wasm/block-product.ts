/**
 * Products of weights of 4 bits in blocks, as those of MatMulNBits with accuracy level 4: a block of a row of weights has numbers,
 * a scale and a zero point; a block of activations has int8 numbers and a scale. The relaxed product of bytes is exact on each
 * processor for numbers from 0 to 15: two of them, times 127, are below the limits of 16 bits.
 *
 * A stripe has the blocks of 4 outputs, one after the other along the columns: 4 scales, 4 products of scale and zero point, then
 * for each 8 columns 16 bytes with outputs 0 and 1 in their lower halves, outputs 2 and 3 in the upper ones. The activations of a
 * row are contiguous. The factors of each of its blocks are the scale, and the sum of its rounded floats.
 */
import { magnitude, storeBytes, sumOfLanes } from './lanes';
import { Task } from './task';

/** Bytes of the scales and offsets of a block of 4 outputs. */
const blockHead: usize = 32;
/** Columns after which sums of 16 bits are full where four rows share them: 8 sums of up to 2 × 15 × 127. */
const columnsOfSum: usize = 64;

function dot(sum: v128, weights: v128, numbers: v128): v128 {
  return i16x8.add(sum, i16x8.relaxed_dot_i8x16_i7x16_s(numbers, weights));
}

function upperHalves(weights: v128, mask: v128): v128 {
  return v128.and(i16x8.shr_u(weights, 4), mask);
}

/** Sums of 16 bits, outputs 0 and 1 on the left, 2 and 3 on the right → a sum of 32 bits for each output. */
function joined(left: v128, right: v128): v128 {
  const ones = i16x8.splat(1);
  const a = i32x4.dot_i16x8_s(left, ones);
  const b = i32x4.dot_i16x8_s(right, ones);
  return i32x4.add(v128.shuffle<i32>(a, b, 0, 2, 4, 6), v128.shuffle<i32>(a, b, 1, 3, 5, 7));
}

/** Adds a block to the outputs: sums × (scales × scale of the activations) − offsets × sum of the activations. */
function addBlock(outputs: v128, sums: v128, block: usize, factors: usize): v128 {
  const scales = f32x4.mul(v128.load(block), v128.load32_splat(factors));
  const shift = f32x4.mul(v128.load(block, 16), v128.load32_splat(factors, 4));
  return f32x4.sub(f32x4.add(outputs, f32x4.mul(f32x4.convert_i32x4_s(sums), scales)), shift);
}

/** One row of activations and one stripe. */
function multiplyOne(stripe: usize, x: usize, y: usize, factors: usize, task: Task): void {
  const mask = i8x16.splat(<i8>task.mask);
  const last = x + task.columns;
  let outputs = f32x4.splat(0);
  for (; x < last; x += task.block) {
    const end = min(x + task.block, last);
    // prettier-ignore
    let a = i16x8.splat(0), b = a, c = a, d = a;
    let at = stripe + blockHead;
    for (let place = x; place < end; place += 16) {
      let weights = v128.load(at);
      let numbers = v128.load64_splat(place);
      a = dot(a, v128.and(weights, mask), numbers);
      b = dot(b, upperHalves(weights, mask), numbers);
      weights = v128.load(at, 16);
      numbers = v128.load64_splat(place, 8);
      c = dot(c, v128.and(weights, mask), numbers);
      d = dot(d, upperHalves(weights, mask), numbers);
      at += 32;
    }
    outputs = addBlock(outputs, i32x4.add(joined(a, b), joined(c, d)), stripe, factors);
    stripe = at;
    factors += 8;
  }
  v128.store(y, outputs);
}

/** Two rows; `pitch`: bytes of the factors of a row. */
function multiplyTwo(stripe: usize, x: usize, y: usize, factors: usize, pitch: usize, task: Task): void {
  const mask = i8x16.splat(<i8>task.mask);
  const columns = task.columns;
  const last = x + columns;
  let first = f32x4.splat(0);
  let second = first;
  for (; x < last; x += task.block) {
    const end = min(x + task.block, last);
    // prettier-ignore
    let a = i16x8.splat(0), b = a, c = a, d = a, e = a, f = a, g = a, h = a;
    let at = stripe + blockHead;
    for (let place = x; place < end; place += 16) {
      let weights = v128.load(at);
      let numbers = v128.load64_splat(place);
      let next = v128.load64_splat(place + columns);
      let lower = v128.and(weights, mask);
      a = dot(a, lower, numbers);
      c = dot(c, lower, next);
      let upper = upperHalves(weights, mask);
      b = dot(b, upper, numbers);
      d = dot(d, upper, next);
      weights = v128.load(at, 16);
      numbers = v128.load64_splat(place, 8);
      next = v128.load64_splat(place + columns, 8);
      lower = v128.and(weights, mask);
      e = dot(e, lower, numbers);
      g = dot(g, lower, next);
      upper = upperHalves(weights, mask);
      f = dot(f, upper, numbers);
      h = dot(h, upper, next);
      at += 32;
    }
    first = addBlock(first, i32x4.add(joined(a, b), joined(e, f)), stripe, factors);
    second = addBlock(second, i32x4.add(joined(c, d), joined(g, h)), stripe, factors + pitch);
    stripe = at;
    factors += 8;
  }
  v128.store(y, first);
  v128.store(y + (task.outputs << 2), second);
}

/** Four rows. */
function multiplyFour(stripe: usize, x: usize, y: usize, factors: usize, pitch: usize, task: Task): void {
  const mask = i8x16.splat(<i8>task.mask);
  const columns = task.columns;
  const last = x + columns;
  const toThird = columns << 1;
  const toFourth = toThird + columns;
  // prettier-ignore
  let first = f32x4.splat(0), second = first, third = first, fourth = first;
  for (; x < last; x += task.block) {
    const end = min(x + task.block, last);
    // prettier-ignore
    let one = i32x4.splat(0), two = one, three = one, four = one;
    let at = stripe + blockHead;
    for (let place = x; place < end;) {
      // prettier-ignore
      let a = i16x8.splat(0), b = a, c = a, d = a, e = a, f = a, g = a, h = a;
      for (const full = min(place + columnsOfSum, end); place < full; place += 8) {
        const weights = v128.load(at);
        const lower = v128.and(weights, mask);
        const upper = upperHalves(weights, mask);
        let numbers = v128.load64_splat(place);
        a = dot(a, lower, numbers);
        b = dot(b, upper, numbers);
        numbers = v128.load64_splat(place + columns);
        c = dot(c, lower, numbers);
        d = dot(d, upper, numbers);
        numbers = v128.load64_splat(place + toThird);
        e = dot(e, lower, numbers);
        f = dot(f, upper, numbers);
        numbers = v128.load64_splat(place + toFourth);
        g = dot(g, lower, numbers);
        h = dot(h, upper, numbers);
        at += 16;
      }
      one = i32x4.add(one, joined(a, b));
      two = i32x4.add(two, joined(c, d));
      three = i32x4.add(three, joined(e, f));
      four = i32x4.add(four, joined(g, h));
    }
    first = addBlock(first, one, stripe, factors);
    second = addBlock(second, two, stripe, factors + pitch);
    third = addBlock(third, three, stripe, factors + 2 * pitch);
    fourth = addBlock(fourth, four, stripe, factors + 3 * pitch);
    stripe = at;
    factors += 8;
  }
  const bytes = task.outputs << 2;
  v128.store(y, first);
  v128.store(y + bytes, second);
  v128.store(y + 2 * bytes, third);
  v128.store(y + 3 * bytes, fourth);
}

/** Bytes of a stripe. */
export function stripeBytesOf(columns: usize, block: usize): usize {
  return ((columns + block - 1) / block) * blockHead + (columns << 1);
}

/** Multiplies a stripe by all rows of a task. */
export function multiplyStripe(task: Task, stripe: usize, output: usize): void {
  const columns = task.columns;
  const bytes = task.outputs << 2;
  const pitch = ((columns + task.block - 1) / task.block) << 3;
  let rows = task.rows;
  let x = task.activations;
  let factors = task.factors;
  for (; rows >= 4; rows -= 4) {
    multiplyFour(stripe, x, output, factors, pitch, task);
    x += columns << 2;
    output += bytes << 2;
    factors += pitch << 2;
  }
  if (rows >= 2) {
    multiplyTwo(stripe, x, output, factors, pitch, task);
    rows -= 2;
    x += columns << 1;
    output += bytes << 1;
    factors += pitch << 1;
  }
  if (rows > 0) multiplyOne(stripe, x, output, factors, task);
}

/**
 * Rounds rows of floats to int8 in blocks of `block` columns, as MatMulNBits does; the last block may be shorter. Writes the
 * factors of each block.
 */
export function quantizeBlocks(
  input: usize,
  output: usize,
  columns: usize,
  rows: usize,
  factors: usize,
  block: usize,
): void {
  for (let row: usize = 0; row < rows; row++) {
    for (let first: usize = 0; first < columns; first += block) {
      const count = min(block, columns - first);
      const largest = magnitude(input, count);
      const scale = largest / 127;
      const inverse = f32x4.splat(largest == 0 ? 0 : 127 / largest);
      let sum = i32x4.splat(0);
      for (const end = input + (count << 2); input < end; input += 32) {
        const low = i32x4.trunc_sat_f32x4_s(f32x4.nearest(f32x4.mul(v128.load(input), inverse)));
        const high = i32x4.trunc_sat_f32x4_s(f32x4.nearest(f32x4.mul(v128.load(input, 16), inverse)));
        sum = i32x4.add(sum, i32x4.add(low, high));
        storeBytes(output, low, high);
        output += 8;
      }
      store<f32>(factors, scale);
      store<f32>(factors, scale * <f32>sumOfLanes(sum), 4);
      factors += 8;
    }
  }
}

/** The 4-bit number at a place of packed numbers. */
function halfAt(values: usize, index: usize): u8 {
  return (load<u8>(values + (index >> 1)) >> ((<u8>(index & 1)) << 2)) & 15;
}

/**
 * Packs 4 rows of weights of MatMulNBits as a stripe. `values`: rows of whole blocks; `scales`: floats, a row with all its blocks
 * after the other; `zeroPoints`: a float for each of them.
 */
export function packBlockWeights(
  values: usize,
  scales: usize,
  zeroPoints: usize,
  target: usize,
  columns: usize,
  block: usize,
): void {
  const blocks = (columns + block - 1) / block;
  const rowBytes = (blocks * block) >> 1;
  for (let index: usize = 0; index < blocks; index++) {
    const first = index * block;
    const last = min(first + block, columns);
    for (let row: usize = 0; row < 4; row++) {
      const place = (row * blocks + index) << 2;
      const scale = load<f32>(scales + place);
      store<f32>(target + (row << 2), scale);
      store<f32>(target + 16 + (row << 2), scale * load<f32>(zeroPoints + place));
    }
    target += blockHead;
    for (let column = first; column < last; column += 8) {
      for (let index: usize = 0; index < 16; index++) {
        const row = values + (index >> 3) * rowBytes;
        const place = column + (index & 7);
        store<u8>(target + index, halfAt(row, place) | (halfAt(row + 2 * rowBytes, place) << 4));
      }
      target += 16;
    }
  }
}
