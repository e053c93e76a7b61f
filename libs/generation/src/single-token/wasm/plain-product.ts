/**
 * Products of packed weights with several rows of activations, with the SIMD instructions that each WebAssembly runtime
 * has. See {@link ./decoder-kernels.ts} for the layouts; activations are int16 here.
 */

const headBytes: usize = 16;

function dot(sum: v128, weights: v128, numbers: v128): v128 {
  return i32x4.add(sum, i32x4.dot_i16x8_s(weights, numbers));
}

/** The sums of the lanes of four vectors. */
export function sumLanes(a: v128, b: v128, c: v128, d: v128): v128 {
  const ab = i32x4.add(v128.shuffle<i32>(a, b, 0, 4, 1, 5), v128.shuffle<i32>(a, b, 2, 6, 3, 7));
  const cd = i32x4.add(v128.shuffle<i32>(c, d, 0, 4, 1, 5), v128.shuffle<i32>(c, d, 2, 6, 3, 7));
  return i32x4.add(v128.shuffle<i64>(ab, cd, 0, 2), v128.shuffle<i64>(ab, cd, 1, 3));
}

/** (sums + shift of the row) × (scale of the row × scales of the outputs). */
function scaled(sums: v128, shift: usize, scale: usize, scales: v128): v128 {
  const shifted = i32x4.add(sums, v128.load32_splat(shift));
  return f32x4.mul(f32x4.convert_i32x4_s(shifted), f32x4.mul(v128.load32_splat(scale), scales));
}

/** One row of activations and one stripe of weights. */
function multiplyOne(stripe: usize, x: usize, y: usize, columns: usize, shift: usize, scale: usize): void {
  let a = i32x4.splat(0);
  let b = a;
  let c = a;
  let d = a;
  let block = stripe + headBytes;
  for (const end = x + (columns << 1); x < end; x += 16) {
    const numbers = v128.load(x);
    a = dot(a, v128.load_ext<u8>(block), numbers);
    b = dot(b, v128.load_ext<u8>(block, 8), numbers);
    c = dot(c, v128.load_ext<u8>(block, 16), numbers);
    d = dot(d, v128.load_ext<u8>(block, 24), numbers);
    block += 32;
  }
  v128.store(y, scaled(sumLanes(a, b, c, d), shift, scale, v128.load(stripe)));
}

/** Two rows: the weights are extended once for both. `rowBytes`: from one row of the result to the next. */
function multiplyTwo(
  stripe: usize,
  x: usize,
  y: usize,
  rowBytes: usize,
  columns: usize,
  shift: usize,
  scale: usize,
): void {
  const next = columns << 1;
  let a = i32x4.splat(0);
  let b = a;
  let c = a;
  let d = a;
  let e = a;
  let f = a;
  let g = a;
  let h = a;
  let block = stripe + headBytes;
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
  v128.store(y, scaled(sumLanes(a, b, c, d), shift, scale, scales));
  v128.store(y + rowBytes, scaled(sumLanes(e, f, g, h), shift + 4, scale + 4, scales));
}

/** Multiplies one stripe by all rows. */
export function multiplyStripe(
  stripe: usize,
  x: usize,
  y: usize,
  rowBytes: usize,
  columns: usize,
  shift: usize,
  scale: usize,
  rows: usize,
): void {
  for (; rows >= 2; rows -= 2) {
    multiplyTwo(stripe, x, y, rowBytes, columns, shift, scale);
    x += columns << 2;
    y += rowBytes << 1;
    shift += 8;
    scale += 8;
  }
  if (rows == 1) multiplyOne(stripe, x, y, columns, shift, scale);
}

/** Stores 8 integers as activations; returns the place behind them. */
export function storeActivations(target: usize, low: v128, high: v128): usize {
  v128.store(target, i16x8.narrow_i32x4_s(low, high));
  return target + 16;
}
