/**
 * Products of weights of 8 bits in blocks, as those of MatMulNBits with accuracy level 4: a block of a row of weights and a
 * block of a row of activations have a scale each. A stripe has the blocks of 4 outputs one after the other along the columns:
 * 4 scales, then 4 rows × 8 columns at a time, with the bytes of {@link ./decoder-kernels.ts}. The factors of a block of
 * activations are those of a row there: −128 × the sum of its integers, and its scale. Activations are int16, or int8 where
 * products of bytes are exact.
 */
import { magnitude, sumOfLanes } from './lanes';
import * as plain from './plain-product';
import * as relaxed from './relaxed-product';
import { headBytes, Task } from './task';

/** Bytes of the factors of a block. */
const factorBytes: usize = 8;

/** Bytes of a stripe. */
export function stripeBytesOf(columns: usize, block: usize): usize {
  return ((columns + block - 1) / block) * headBytes + (columns << 2);
}

/** One row of activations and one stripe. */
function multiplyOneWords(stripe: usize, x: usize, y: usize, factors: usize, task: Task): void {
  const last = x + (task.columns << 1);
  const blockBytes = task.block << 1;
  let outputs = f32x4.splat(0);
  while (x < last) {
    const scales = v128.load(stripe);
    stripe += headBytes;
    // prettier-ignore
    let a = i32x4.splat(0), b = a, c = a, d = a;
    for (const end = min(x + blockBytes, last); x < end; x += 32) {
      let numbers = v128.load(x);
      a = plain.dot(a, v128.load_ext<u8>(stripe), numbers);
      b = plain.dot(b, v128.load_ext<u8>(stripe, 8), numbers);
      c = plain.dot(c, v128.load_ext<u8>(stripe, 16), numbers);
      d = plain.dot(d, v128.load_ext<u8>(stripe, 24), numbers);
      numbers = v128.load(x, 16);
      a = plain.dot(a, v128.load_ext<u8>(stripe, 32), numbers);
      b = plain.dot(b, v128.load_ext<u8>(stripe, 40), numbers);
      c = plain.dot(c, v128.load_ext<u8>(stripe, 48), numbers);
      d = plain.dot(d, v128.load_ext<u8>(stripe, 56), numbers);
      stripe += 64;
    }
    outputs = f32x4.add(outputs, plain.scaled(plain.sumLanes(a, b, c, d), factors, scales));
    factors += factorBytes;
  }
  v128.store(y, outputs);
}

/** Two rows; `pitch`: bytes of the factors of a row. */
function multiplyTwoWords(stripe: usize, x: usize, y: usize, factors: usize, pitch: usize, task: Task): void {
  const next = task.columns << 1;
  const last = x + next;
  const blockBytes = task.block << 1;
  let one = f32x4.splat(0);
  let two = one;
  while (x < last) {
    const scales = v128.load(stripe);
    stripe += headBytes;
    // prettier-ignore
    let a = i32x4.splat(0), b = a, c = a, d = a, e = a, f = a, g = a, h = a;
    for (const end = min(x + blockBytes, last); x < end; x += 16) {
      const first = v128.load_ext<u8>(stripe);
      const second = v128.load_ext<u8>(stripe, 8);
      const third = v128.load_ext<u8>(stripe, 16);
      const fourth = v128.load_ext<u8>(stripe, 24);
      let numbers = v128.load(x);
      a = plain.dot(a, first, numbers);
      b = plain.dot(b, second, numbers);
      c = plain.dot(c, third, numbers);
      d = plain.dot(d, fourth, numbers);
      numbers = v128.load(x + next);
      e = plain.dot(e, first, numbers);
      f = plain.dot(f, second, numbers);
      g = plain.dot(g, third, numbers);
      h = plain.dot(h, fourth, numbers);
      stripe += 32;
    }
    one = f32x4.add(one, plain.scaled(plain.sumLanes(a, b, c, d), factors, scales));
    two = f32x4.add(two, plain.scaled(plain.sumLanes(e, f, g, h), factors + pitch, scales));
    factors += factorBytes;
  }
  v128.store(y, one);
  v128.store(y + (task.outputs << 2), two);
}

/** One row of bytes. */
function multiplyOneBytes(stripe: usize, x: usize, y: usize, factors: usize, task: Task): void {
  const last = x + task.columns;
  let outputs = f32x4.splat(0);
  while (x < last) {
    const scales = v128.load(stripe);
    stripe += headBytes;
    // prettier-ignore
    let a = i32x4.splat(0), b = a, c = a, d = a;
    for (const end = min(x + task.block, last); x < end; x += 16) {
      let numbers = v128.load64_splat(x);
      a = relaxed.dot(a, v128.load(stripe), numbers);
      b = relaxed.dot(b, v128.load(stripe, 16), numbers);
      numbers = v128.load64_splat(x, 8);
      c = relaxed.dot(c, v128.load(stripe, 32), numbers);
      d = relaxed.dot(d, v128.load(stripe, 48), numbers);
      stripe += 64;
    }
    const sums = relaxed.joinHalves(i32x4.add(a, c), i32x4.add(b, d));
    outputs = f32x4.add(outputs, plain.scaled(sums, factors, scales));
    factors += factorBytes;
  }
  v128.store(y, outputs);
}

/** Two rows of bytes. */
function multiplyTwoBytes(stripe: usize, x: usize, y: usize, factors: usize, pitch: usize, task: Task): void {
  const columns = task.columns;
  const last = x + columns;
  let one = f32x4.splat(0);
  let two = one;
  while (x < last) {
    const scales = v128.load(stripe);
    stripe += headBytes;
    // prettier-ignore
    let a = i32x4.splat(0), b = a, c = a, d = a;
    for (const end = min(x + task.block, last); x < end; x += 8) {
      const left = v128.load(stripe);
      const right = v128.load(stripe, 16);
      let numbers = v128.load64_splat(x);
      a = relaxed.dot(a, left, numbers);
      b = relaxed.dot(b, right, numbers);
      numbers = v128.load64_splat(x + columns);
      c = relaxed.dot(c, left, numbers);
      d = relaxed.dot(d, right, numbers);
      stripe += 32;
    }
    one = f32x4.add(one, plain.scaled(relaxed.joinHalves(a, b), factors, scales));
    two = f32x4.add(two, plain.scaled(relaxed.joinHalves(c, d), factors + pitch, scales));
    factors += factorBytes;
  }
  v128.store(y, one);
  v128.store(y + (task.outputs << 2), two);
}

/** Multiplies a stripe by all rows of a task, two at a time. */
export function multiplyStripe(task: Task, stripe: usize, output: usize, usesBytes: bool): void {
  const rowBytes = task.columns << (usesBytes ? 0 : 1);
  const outputBytes = task.outputs << 2;
  const pitch = ((task.columns + task.block - 1) / task.block) * factorBytes;
  let rows = task.rows;
  let x = task.activations;
  let factors = task.factors;
  for (; rows >= 2; rows -= 2) {
    if (ASC_FEATURE_RELAXED_SIMD && usesBytes) multiplyTwoBytes(stripe, x, output, factors, pitch, task);
    else multiplyTwoWords(stripe, x, output, factors, pitch, task);
    x += rowBytes << 1;
    output += outputBytes << 1;
    factors += pitch << 1;
  }
  if (rows == 0) return;
  if (ASC_FEATURE_RELAXED_SIMD && usesBytes) multiplyOneBytes(stripe, x, output, factors, task);
  else multiplyOneWords(stripe, x, output, factors, task);
}

/** Rounds four floats to integers. */
function rounded(values: v128, inverse: v128): v128 {
  return i32x4.trunc_sat_f32x4_s(f32x4.nearest(f32x4.mul(values, inverse)));
}

/** Rounds rows of floats in blocks of `block` columns, as MatMulNBits does; the last block of a row may be shorter. */
export function quantizeByteBlocks(
  input: usize,
  output: usize,
  usesBytes: bool,
  rows: usize,
  columns: usize,
  block: usize,
  factors: usize,
): void {
  for (let row: usize = 0; row < rows; row++)
    for (let first: usize = 0; first < columns; first += block) {
      const count = min(block, columns - first);
      const largest = magnitude(input, count);
      const inverse = f32x4.splat(largest == 0 ? 0 : 127 / largest);
      let sum = i32x4.splat(0);
      for (const end = input + (count << 2); input < end; input += 32) {
        const low = rounded(v128.load(input), inverse);
        const high = rounded(v128.load(input, 16), inverse);
        sum = i32x4.add(sum, i32x4.add(low, high));
        if (ASC_FEATURE_RELAXED_SIMD && usesBytes) output = relaxed.storeActivations(output, low, high);
        else output = plain.storeActivations(output, low, high);
      }
      store<i32>(factors, -128 * sumOfLanes(sum));
      store<f32>(factors, largest / 127, 4);
      factors += factorBytes;
    }
}

/**
 * Packs 4 rows of weights of MatMulNBits as a stripe. `values`: rows of whole blocks of bytes; `scales`: floats, a row with
 * all its blocks after the other.
 */
export function packByteBlocks(
  values: usize,
  scales: usize,
  target: usize,
  columns: usize,
  block: usize,
): void {
  const blocks = (columns + block - 1) / block;
  const rowBytes = blocks * block;
  for (let index: usize = 0; index < blocks; index++) {
    for (let row: usize = 0; row < 4; row++)
      store<f32>(target + (row << 2), load<f32>(scales + ((row * blocks + index) << 2)));
    target += headBytes;
    const last = min((index + 1) * block, columns);
    for (let column = index * block; column < last; column += 8)
      for (let row: usize = 0; row < 4; row++, target += 8)
        store<u64>(target, load<u64>(values + row * rowBytes + column));
  }
}
