/**
 * Products of packed weights with several rows of activations by the relaxed SIMD instruction for products of bytes. It is
 * exact where V8 uses vpdpbusd, the instruction of processors with AVX-VNNI: see {@link largestProduct}. The layouts are in
 * {@link ./decoder-kernels.ts}; activations are int8 here.
 */
import { storeBytes } from './lanes';
import { scaled } from './plain-product';
import { headBytes, Task } from './task';

export function dot(sum: v128, weights: v128, numbers: v128): v128 {
  return i32x4.relaxed_dot_i8x16_i7x16_add_s(numbers, weights, sum);
}

/** The largest sum that a lane can get from one instruction: 4 × 255 × 127 where it neither saturates nor changes signs. */
export function largestProduct(): i32 {
  const weights = i32x4.splat(-1);
  return i32x4.extract_lane(dot(i32x4.splat(0), weights, i8x16.splat(127)), 0);
}

/** Two vectors of 2 outputs × 2 halves of a sum → 4 outputs. */
export function joinHalves(a: v128, b: v128): v128 {
  return i32x4.add(v128.shuffle<i32>(a, b, 0, 2, 4, 6), v128.shuffle<i32>(a, b, 1, 3, 5, 7));
}

/** One row and one stripe: 32 columns at a time in 4 pairs of sums, because an instruction takes about 4 cycles. */
export function multiplyOne(stripe: usize, x: usize, y: usize, factors: usize, task: Task): void {
  const columns = task.columns;
  // prettier-ignore
  let a = i32x4.splat(0), b = a, c = a, d = a, e = a, f = a, g = a, h = a;
  let block = stripe + headBytes;
  const end = x + columns;
  for (const last = x + (columns & ~31); x < last; x += 32) {
    let numbers = v128.load64_splat(x);
    a = dot(a, v128.load(block), numbers);
    b = dot(b, v128.load(block, 16), numbers);
    numbers = v128.load64_splat(x, 8);
    c = dot(c, v128.load(block, 32), numbers);
    d = dot(d, v128.load(block, 48), numbers);
    numbers = v128.load64_splat(x, 16);
    e = dot(e, v128.load(block, 64), numbers);
    f = dot(f, v128.load(block, 80), numbers);
    numbers = v128.load64_splat(x, 24);
    g = dot(g, v128.load(block, 96), numbers);
    h = dot(h, v128.load(block, 112), numbers);
    block += 128;
  }
  for (; x < end; x += 8) {
    const numbers = v128.load64_splat(x);
    a = dot(a, v128.load(block), numbers);
    b = dot(b, v128.load(block, 16), numbers);
    block += 32;
  }
  a = i32x4.add(i32x4.add(a, c), i32x4.add(e, g));
  b = i32x4.add(i32x4.add(b, d), i32x4.add(f, h));
  v128.store(y, scaled(joinHalves(a, b), factors, v128.load(stripe)));
}

/** Two rows: 16 columns at a time in 8 sums. */
export function multiplyTwo(stripe: usize, x: usize, y: usize, factors: usize, task: Task): void {
  const columns = task.columns;
  const pitch = task.outputs << 2;
  // prettier-ignore
  let a = i32x4.splat(0), b = a, c = a, d = a, e = a, f = a, g = a, h = a;
  let block = stripe + headBytes;
  for (const end = x + columns; x < end; x += 16) {
    let left = v128.load(block);
    let right = v128.load(block, 16);
    let numbers = v128.load64_splat(x + columns);
    c = dot(c, left, numbers);
    d = dot(d, right, numbers);
    numbers = v128.load64_splat(x);
    a = dot(a, left, numbers);
    b = dot(b, right, numbers);
    left = v128.load(block, 32);
    right = v128.load(block, 48);
    numbers = v128.load64_splat(x, 8);
    e = dot(e, left, numbers);
    f = dot(f, right, numbers);
    numbers = v128.load64_splat(x + columns, 8);
    g = dot(g, left, numbers);
    h = dot(h, right, numbers);
    block += 64;
  }
  const scales = v128.load(stripe);
  v128.store(y, scaled(joinHalves(i32x4.add(a, e), i32x4.add(b, f)), factors, scales));
  const second = joinHalves(i32x4.add(c, g), i32x4.add(d, h));
  v128.store(y + pitch, scaled(second, factors + 8, scales));
}

/** Four rows: 8 columns at a time in 8 sums. */
export function multiplyFour(stripe: usize, x: usize, y: usize, factors: usize, task: Task): void {
  const columns = task.columns;
  const pitch = task.outputs << 2;
  // prettier-ignore
  let a = i32x4.splat(0), b = a, c = a, d = a, e = a, f = a, g = a, h = a;
  let block = stripe + headBytes;
  const third = columns << 1;
  const fourth = third + columns;
  for (const end = x + columns; x < end; x += 8) {
    const upper = v128.load(block);
    const lower = v128.load(block, 16);
    let numbers = v128.load64_splat(x);
    a = dot(a, upper, numbers);
    b = dot(b, lower, numbers);
    numbers = v128.load64_splat(x + columns);
    c = dot(c, upper, numbers);
    d = dot(d, lower, numbers);
    numbers = v128.load64_splat(x + third);
    e = dot(e, upper, numbers);
    f = dot(f, lower, numbers);
    numbers = v128.load64_splat(x + fourth);
    g = dot(g, upper, numbers);
    h = dot(h, lower, numbers);
    block += 32;
  }
  const scales = v128.load(stripe);
  v128.store(y, scaled(joinHalves(a, b), factors, scales));
  v128.store(y + pitch, scaled(joinHalves(c, d), factors + 8, scales));
  v128.store(y + 2 * pitch, scaled(joinHalves(e, f), factors + 16, scales));
  v128.store(y + 3 * pitch, scaled(joinHalves(g, h), factors + 24, scales));
}

/** Stores 8 integers as activations; returns the place behind them. */
export function storeActivations(target: usize, low: v128, high: v128): usize {
  storeBytes(target, low, high);
  return target + 8;
}
