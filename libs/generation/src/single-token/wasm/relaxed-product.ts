/**
 * Products of packed weights with several rows of activations by the relaxed SIMD instruction for products of bytes. It is
 * exact where V8 uses vpdpbusd, the instruction of processors with AVX-VNNI: see {@link largestProduct}. The layouts are in
 * {@link ./decoder-kernels.ts}; activations are int8 here.
 */

const headBytes: usize = 16;

function dot(sum: v128, weights: v128, numbers: v128): v128 {
  return i32x4.relaxed_dot_i8x16_i7x16_add_s(numbers, weights, sum);
}

/** The largest sum that a lane can get from one instruction: 4 × 255 × 127 where it neither saturates nor changes signs. */
export function largestProduct(): i32 {
  const weights = i32x4.splat(-1);
  return i32x4.extract_lane(dot(i32x4.splat(0), weights, i8x16.splat(127)), 0);
}

/** Two vectors of 2 outputs × 2 halves of a sum → 4 outputs. */
function joinHalves(a: v128, b: v128): v128 {
  return i32x4.add(v128.shuffle<i32>(a, b, 0, 2, 4, 6), v128.shuffle<i32>(a, b, 1, 3, 5, 7));
}

/** (sums + shift of the row) × (scale of the row × scales of the outputs). */
function scaled(sums: v128, shift: usize, scale: usize, scales: v128): v128 {
  const shifted = i32x4.add(sums, v128.load32_splat(shift));
  return f32x4.mul(f32x4.convert_i32x4_s(shifted), f32x4.mul(v128.load32_splat(scale), scales));
}

/** One row and one stripe: 16 columns at a time in 4 pairs of sums, because an instruction takes about 4 cycles. */
function multiplyOne(stripe: usize, x: usize, y: usize, columns: usize, shift: usize, scale: usize): void {
  let a = i32x4.splat(0);
  let b = a;
  let c = a;
  let d = a;
  let e = a;
  let f = a;
  let g = a;
  let h = a;
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
  v128.store(y, scaled(joinHalves(a, b), shift, scale, v128.load(stripe)));
}

/** Two rows: 16 columns at a time in 8 sums. `rowBytes`: from one row of the result to the next. */
function multiplyTwo(
  stripe: usize,
  x: usize,
  y: usize,
  rowBytes: usize,
  columns: usize,
  shift: usize,
  scale: usize,
): void {
  let a = i32x4.splat(0);
  let b = a;
  let c = a;
  let d = a;
  let e = a;
  let f = a;
  let g = a;
  let h = a;
  let block = stripe + headBytes;
  for (const end = x + columns; x < end; x += 16) {
    let left = v128.load(block);
    let right = v128.load(block, 16);
    let numbers = v128.load64_splat(x);
    a = dot(a, left, numbers);
    b = dot(b, right, numbers);
    numbers = v128.load64_splat(x + columns);
    c = dot(c, left, numbers);
    d = dot(d, right, numbers);
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
  v128.store(y, scaled(joinHalves(i32x4.add(a, e), i32x4.add(b, f)), shift, scale, scales));
  const second = joinHalves(i32x4.add(c, g), i32x4.add(d, h));
  v128.store(y + rowBytes, scaled(second, shift + 4, scale + 4, scales));
}

/** Four rows: 8 columns at a time in 8 sums. */
function multiplyFour(
  stripe: usize,
  x: usize,
  y: usize,
  rowBytes: usize,
  columns: usize,
  shift: usize,
  scale: usize,
): void {
  let a = i32x4.splat(0);
  let b = a;
  let c = a;
  let d = a;
  let e = a;
  let f = a;
  let g = a;
  let h = a;
  let block = stripe + headBytes;
  const third = columns << 1;
  const fourth = third + columns;
  for (const end = x + columns; x < end; x += 8) {
    const left = v128.load(block);
    const right = v128.load(block, 16);
    let numbers = v128.load64_splat(x);
    a = dot(a, left, numbers);
    b = dot(b, right, numbers);
    numbers = v128.load64_splat(x + columns);
    c = dot(c, left, numbers);
    d = dot(d, right, numbers);
    numbers = v128.load64_splat(x + third);
    e = dot(e, left, numbers);
    f = dot(f, right, numbers);
    numbers = v128.load64_splat(x + fourth);
    g = dot(g, left, numbers);
    h = dot(h, right, numbers);
    block += 32;
  }
  const scales = v128.load(stripe);
  v128.store(y, scaled(joinHalves(a, b), shift, scale, scales));
  v128.store(y + rowBytes, scaled(joinHalves(c, d), shift + 4, scale + 4, scales));
  v128.store(y + 2 * rowBytes, scaled(joinHalves(e, f), shift + 8, scale + 8, scales));
  v128.store(y + 3 * rowBytes, scaled(joinHalves(g, h), shift + 12, scale + 12, scales));
}

/** Multiplies one stripe by all rows, in groups of four. */
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
  for (; rows >= 4; rows -= 4) {
    multiplyFour(stripe, x, y, rowBytes, columns, shift, scale);
    x += columns << 2;
    y += rowBytes << 2;
    shift += 16;
    scale += 16;
  }
  if (rows >= 2) {
    multiplyTwo(stripe, x, y, rowBytes, columns, shift, scale);
    x += columns << 1;
    y += rowBytes << 1;
    shift += 8;
    scale += 8;
  }
  if (rows & 1) multiplyOne(stripe, x, y, columns, shift, scale);
}

/** Stores 8 integers as activations; returns the place behind them. */
export function storeActivations(target: usize, low: v128, high: v128): usize {
  const words = i16x8.narrow_i32x4_s(low, high);
  v128.store64_lane(target, i8x16.narrow_i16x8_s(words, words), 0);
  return target + 8;
}
