/**
 * Products of packed weights with several rows of activations, which several threads can share. The layout of weights is in
 * {@link ./decoder-kernels.ts}. Activations are integers from −127 to 127, each row contiguous. The factors of a
 * row are an int32, −128 × the sum of its integers, which undoes the 128 in the bytes of weights, and a float, the largest
 * magnitude of its floats.
 */
import * as blocks from './block-product';
import * as byteBlocks from './byte-block-product';
import { magnitude, sumOfLanes } from './lanes';
import * as plain from './plain-product';
import * as relaxed from './relaxed-product';
import { headBytes, Task } from './task';

/** The largest magnitude as a divisor in each lane; 1 instead of 0, which leaves zeros zeros. */
export function divisorOf(largest: f32): v128 {
  return f32x4.splat(largest == 0 ? 1 : largest);
}

/**
 * Rounds floats to integers, as QuantizeLinear does: half to even. `step`: the distance of two levels, relative to the
 * largest magnitude.
 */
export function quantize(values: v128, divisor: v128, step: v128): v128 {
  return i32x4.trunc_sat_f32x4_s(f32x4.nearest(f32x4.div(f32x4.div(values, divisor), step)));
}

/** The largest sum of 4 products of bytes: 255 × 127 each. */
const exactProduct: i32 = 4 * 255 * 127;

function areBytesExact(): bool {
  if (ASC_FEATURE_RELAXED_SIMD) return relaxed.largestProduct() == exactProduct;
  return false;
}

/** Products of bytes are exact on this processor, so that activations of products with int8 weights are bytes. */
const usesBytes = areBytesExact();

/** Returns true if several rows of a product with int8 weights cost little more than one. */
export function multipliesBytes(): bool {
  return usesBytes;
}

/** Rounds rows of floats to activations; writes the factors of each row. */
export function quantizeRows(input: usize, output: usize, columns: usize, rows: usize, factors: usize): void {
  for (let row: usize = 0; row < rows; row++) {
    const largest = magnitude(input, columns);
    const divisor = divisorOf(largest);
    const step = f32x4.splat(<f32>1 / 127);
    let sum = i32x4.splat(0);
    for (const end = input + (columns << 2); input < end; input += 32) {
      const low = quantize(v128.load(input), divisor, step);
      const high = quantize(v128.load(input, 16), divisor, step);
      sum = i32x4.add(sum, i32x4.add(low, high));
      if (ASC_FEATURE_RELAXED_SIMD && usesBytes) output = relaxed.storeActivations(output, low, high);
      else output = plain.storeActivations(output, low, high);
    }
    store<i32>(factors + (row << 3), -128 * sumOfLanes(sum));
    store<f32>(factors + (row << 3), largest, 4);
  }
}

/** Rounds rows of floats to activations of products with weights of 8 bits in blocks. */
export function quantizeByteBlocks(
  input: usize,
  output: usize,
  rows: usize,
  columns: usize,
  block: usize,
  factors: usize,
): void {
  byteBlocks.quantizeByteBlocks(input, output, usesBytes, rows, columns, block, factors);
}

/** Four bytes of each of four columns. */
function fourColumns(from: usize, columnBytes: usize): v128 {
  let bytes = v128.load32_zero(from);
  bytes = v128.load32_lane(from + columnBytes, bytes, 1);
  bytes = v128.load32_lane(from + 2 * columnBytes, bytes, 2);
  return v128.load32_lane(from + 3 * columnBytes, bytes, 3);
}

/**
 * Packs a matrix that is stored column after column, `columnBytes` apart, in blocks of 4 rows × 8 columns; 4 rows take
 * `stripeBytes`. Rows and columns that are missing in the last blocks get arbitrary bytes.
 */
export function packBlocks(
  source: usize,
  target: usize,
  columns: usize,
  rows: usize,
  columnBytes: usize,
  stripeBytes: usize,
  flip: i8,
): void {
  const flips = i8x16.splat(flip);
  for (let row: usize = 0; row < rows; row += 4) {
    let block = target + (row >> 2) * stripeBytes;
    for (let column: usize = 0; column < columns; column += 8) {
      const from = source + column * columnBytes + row;
      const a = v128.xor(fourColumns(from, columnBytes), flips);
      const b = v128.xor(fourColumns(from + 4 * columnBytes, columnBytes), flips);
      v128.store(block, v128.shuffle<i8>(a, b, 0, 4, 8, 12, 16, 20, 24, 28, 1, 5, 9, 13, 17, 21, 25, 29));
      v128.store(
        block,
        v128.shuffle<i8>(a, b, 2, 6, 10, 14, 18, 22, 26, 30, 3, 7, 11, 15, 19, 23, 27, 31),
        16,
      );
      block += 32;
    }
  }
}

/**
 * Packs columns `first` to `first` + `columns` − 1 of weights that are stored column after column; both are multiples of 8.
 * `width`: columns of the matrix. `flip`: 128 for int8, 0 for values that have a zero point of 128. `rows` is any number.
 */
export function packWeights(
  source: usize,
  target: usize,
  first: usize,
  columns: usize,
  rows: usize,
  width: usize,
  flip: i8,
): void {
  packBlocks(source, target + headBytes + (first << 2), columns, rows, rows, headBytes + (width << 2), flip);
}

const offsetOfDone: usize = 8;
const offsetOfSleepers: usize = 12;
const offsetOfEnded: usize = 16;

/** Bytes of weights in a part: some microseconds of work. */
const partBytes: usize = 65536;
/** Reads of the claims before a thread without work sleeps: about a tenth of a millisecond. */
const patience: i32 = 50000;

/** Multiplies a stripe by all rows, in groups of four with relaxed SIMD, otherwise of two. */
function multiplyStripe(task: Task, stripe: usize, output: usize): void {
  const columns = task.columns;
  const rowBytes = task.outputs << 2;
  let rows = task.rows;
  let x = task.activations;
  let factors = task.factors;
  if (ASC_FEATURE_RELAXED_SIMD && usesBytes)
    for (; rows >= 4; rows -= 4) {
      relaxed.multiplyFour(stripe, x, output, factors, task);
      x += columns << 2;
      output += rowBytes << 2;
      factors += 32;
    }
  for (; rows >= 2; rows -= 2) {
    if (ASC_FEATURE_RELAXED_SIMD && usesBytes) relaxed.multiplyTwo(stripe, x, output, factors, task);
    else plain.multiplyTwo(stripe, x, output, factors, task);
    x += columns << (usesBytes ? 1 : 2);
    output += rowBytes << 1;
    factors += 16;
  }
  if (rows == 0) return;
  if (ASC_FEATURE_RELAXED_SIMD && usesBytes) relaxed.multiplyOne(stripe, x, output, factors, task);
  else plain.multiplyOne(stripe, x, output, factors, task);
}

/** Bytes of 4 outputs. */
function stripeBytesOf(task: Task): usize {
  if (task.bits == 4) return blocks.stripeBytesOf(task.columns, task.block);
  if (task.block > 0) return byteBlocks.stripeBytesOf(task.columns, task.block);
  return headBytes + (task.columns << 2);
}

/** Multiplies the stripes of outputs `first` to `last` − 1 of a product, each of which is read from memory once. */
function multiplyPart(task: Task, first: usize, last: usize): void {
  const stripeBytes = stripeBytesOf(task);
  let stripe = task.weights + (first >> 2) * stripeBytes;
  let output = task.output + (first << 2);
  for (const end = task.output + (last << 2); output < end; output += 16) {
    if (ASC_FEATURE_RELAXED_SIMD && task.bits == 4) blocks.multiplyStripe(task, stripe, output);
    else if (task.block > 0) byteBlocks.multiplyStripe(task, stripe, output, usesBytes);
    else multiplyStripe(task, stripe, output);
    stripe += stripeBytes;
  }
}

/** Claims and computes one part of the product. Returns false if all parts are claimed. */
function work(address: usize): bool {
  const claims = atomic.load<u64>(address);
  if (<u32>claims == 0) return false;
  if (atomic.cmpxchg<u64>(address, claims, claims - 1) != claims) return true;
  const task = changetype<Task>(address);
  const first = (<usize>(<u32>claims) - 1) * task.outputsOfPart;
  multiplyPart(task, first, min(first + task.outputsOfPart, task.outputs));
  atomic.add<i32>(address, 1, offsetOfDone);
  return true;
}

/** Computes parts of products until the task has ended; runs in a thread of its own. */
export function serve(address: usize): void {
  let rounds: i32 = 0;
  while (atomic.load<i32>(address, offsetOfEnded) == 0) {
    const claims = atomic.load<u64>(address);
    if (work(address)) rounds = 0;
    else if (++rounds > patience) {
      atomic.add<i32>(address, 1, offsetOfSleepers);
      // The claims were 0 with this number: another number means another product.
      atomic.wait<i32>(address + 4, <i32>(claims >> 32), -1);
      atomic.sub<i32>(address, 1, offsetOfSleepers);
      rounds = 0;
    }
  }
}

/** Lets the threads that {@link serve} end. */
export function endThreads(address: usize): void {
  atomic.store<i32>(address, 1, offsetOfEnded);
  atomic.add<i32>(address, 1, 4);
  atomic.notify(address + 4, -1);
}

/**
 * Multiplies packed weights by rows of activations: output[row][output] = (sum + shift) × (magnitude × scale). `outputs` is a
 * multiple of 4. With a `block` above 0 both are in blocks of so many columns: see {@link ./block-product.ts} for 4 bits and
 * {@link ./byte-block-product.ts} for 8. With `isShared`, threads that {@link serve} the task at `address` help.
 */
export function multiply(
  weights: usize,
  activations: usize,
  factors: usize,
  output: usize,
  outputs: usize,
  columns: usize,
  rows: usize,
  bits: u32,
  block: usize,
  address: usize,
  isShared: bool,
): void {
  const task = changetype<Task>(address);
  task.weights = weights;
  task.activations = activations;
  task.factors = factors;
  task.output = output;
  task.outputs = outputs;
  task.columns = columns;
  task.rows = rows;
  task.bits = bits;
  task.block = block;
  task.mask = 15;
  const outputsOfPart = max((partBytes << 2) / stripeBytesOf(task), 4) & ~3;
  if (!isShared || outputs <= outputsOfPart) {
    multiplyPart(task, 0, outputs);
    return;
  }
  task.outputsOfPart = outputsOfPart;
  const parts = <i32>((outputs + outputsOfPart - 1) / outputsOfPart);
  atomic.store<i32>(address, 0, offsetOfDone);
  const product = (atomic.load<u64>(address) >> 32) + 1;
  atomic.store<u64>(address, (product << 32) | (<u64>parts));
  if (atomic.load<i32>(address, offsetOfSleepers) > 0) atomic.notify(address + 4, -1);
  while (work(address)) {}
  while (atomic.load<i32>(address, offsetOfDone) < parts) {}
}
