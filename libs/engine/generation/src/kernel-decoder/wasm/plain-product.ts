/**
 * Products of packed weights with several rows of activations, with the SIMD instructions that each WebAssembly runtime
 * has. See {@link ./decoder-kernels.ts} for the layouts; activations are int16 here.
 */
import { headBytes, Task } from './task';

export function dot(sum: v128, weights: v128, numbers: v128): v128 {
  return i32x4.add(sum, i32x4.dot_i16x8_s(weights, numbers));
}

/** The sums of the lanes of four vectors. */
export function sumLanes(a: v128, b: v128, c: v128, d: v128): v128 {
  const ab = i32x4.add(v128.shuffle<i32>(a, b, 0, 4, 1, 5), v128.shuffle<i32>(a, b, 2, 6, 3, 7));
  const cd = i32x4.add(v128.shuffle<i32>(c, d, 0, 4, 1, 5), v128.shuffle<i32>(c, d, 2, 6, 3, 7));
  return i32x4.add(v128.shuffle<i64>(ab, cd, 0, 2), v128.shuffle<i64>(ab, cd, 1, 3));
}

/** (sums + shift of the row) × (magnitude of the row × scales of the outputs). `factors`: the row's shift and magnitude. */
export function scaled(sums: v128, factors: usize, scales: v128): v128 {
  const shifted = i32x4.add(sums, v128.load32_splat(factors));
  return f32x4.mul(f32x4.convert_i32x4_s(shifted), f32x4.mul(v128.load32_splat(factors, 4), scales));
}

/** One row of activations and one stripe of weights. */
export function multiplyOne(stripe: usize, x: usize, y: usize, factors: usize, task: Task): void {
  const columns = task.columns;
  // prettier-ignore
  let a = i32x4.splat(0), b = a, c = a, d = a;
  let block = stripe + headBytes;
  for (const end = x + (columns << 1); x < end; x += 16) {
    const numbers = v128.load(x);
    a = dot(a, v128.load_ext<u8>(block), numbers);
    b = dot(b, v128.load_ext<u8>(block, 8), numbers);
    c = dot(c, v128.load_ext<u8>(block, 16), numbers);
    d = dot(d, v128.load_ext<u8>(block, 24), numbers);
    block += 32;
  }
  v128.store(y, scaled(sumLanes(a, b, c, d), factors, v128.load(stripe)));
}

/** Two rows: the weights are extended once for both. */
export function multiplyTwo(stripe: usize, x: usize, y: usize, factors: usize, task: Task): void {
  const columns = task.columns;
  const pitch = task.outputs << 2;
  const next = columns << 1;
  let block = stripe + headBytes;
  // prettier-ignore
  let a = i32x4.splat(0), b = a, c = a, d = a, e = a, f = a, g = a, h = a;
  for (const end = x + next; x < end; x += 16) {
    const first = v128.load_ext<u8>(block);
    const second = v128.load_ext<u8>(block, 8);
    const third = v128.load_ext<u8>(block, 16);
    const fourth = v128.load_ext<u8>(block, 24);
    let numbers = v128.load(x);
    a = dot(a, first, numbers);
    b = dot(b, second, numbers);
    c = dot(c, third, numbers);
    d = dot(d, fourth, numbers);
    numbers = v128.load(x + next);
    e = dot(e, first, numbers);
    f = dot(f, second, numbers);
    g = dot(g, third, numbers);
    h = dot(h, fourth, numbers);
    block += 32;
  }
  const scales = v128.load(stripe);
  v128.store(y, scaled(sumLanes(a, b, c, d), factors, scales));
  v128.store(y + pitch, scaled(sumLanes(e, f, g, h), factors + 8, scales));
}

/** Stores 8 integers as activations; returns the place behind them. */
export function storeActivations(target: usize, low: v128, high: v128): usize {
  v128.store(target, i16x8.narrow_i32x4_s(low, high));
  return target + 16;
}
