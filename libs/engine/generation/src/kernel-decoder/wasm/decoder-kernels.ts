/**
 * Arithmetic of a pass over few tokens through a decoder, in AssemblyScript. `npm run build` compiles it to
 * dist/decoder-kernels.wasm, and with relaxed SIMD to dist/decoder-kernels-relaxed.wasm; {@link ../kernel-decoder.ts}
 * calls it. Addresses are bytes in the memory of the module. Lengths are multiples of 16, except where a comment says
 * otherwise.
 *
 * A packed matrix has bytes in blocks of 4 rows × 8 columns: the blocks of 4 rows follow each other column by column, so
 * that a product reads one stream. The bytes of weights are the int8 values + 128, and four float scales stand before each
 * 4 rows (a stripe). The bytes of a cache are the int8 values.
 */
import { largestLane, magnitude, storeBytes } from './lanes';
import { divisorOf, packBlocks, quantize } from './product';
import { sumLanes } from './plain-product';

export { packBlockWeights, quantizeBlocks } from './block-product';
export { packByteBlocks } from './byte-block-product';
export {
  endThreads,
  multipliesBytes,
  multiply,
  packWeights,
  quantizeByteBlocks,
  quantizeRows,
  serve,
} from './product';

/** Bytes of 4 rows × 8 columns. */
const blockBytes: usize = 32;

/** Rounds floats to integers of 16 bits: value ≈ integer ÷ `levels` × the returned largest magnitude. */
function quantizeWords(input: usize, output: usize, count: usize, levels: f32): f32 {
  const largest = magnitude(input, count);
  const divisor = divisorOf(largest);
  const step = f32x4.splat(1 / levels);
  for (let index: usize = 0; index < count; index += 8) {
    const low = quantize(v128.load(input + (index << 2)), divisor, step);
    const high = quantize(v128.load(input + (index << 2), 16), divisor, step);
    v128.store(output + (index << 1), i16x8.narrow_i32x4_s(low, high));
  }
  return largest;
}

/**
 * Multiplies a packed matrix of a cache by integers of 16 bits: output[row] = sum × (factor × scales[row]). `rows` is a
 * multiple of 4; `stride` is the number of columns that the memory of a row has.
 */
function multiplyCache(
  weights: usize,
  scales: usize,
  vector: usize,
  factor: f32,
  output: usize,
  rows: usize,
  columns: usize,
  stride: usize,
): void {
  const scale = f32x4.splat(factor);
  const end = vector + (columns << 1);
  for (let row: usize = 0; row < rows; row += 4) {
    // prettier-ignore
    let a = i32x4.splat(0), b = a, c = a, d = a;
    let block = weights + row * stride;
    for (let at = vector; at < end; at += 16) {
      const numbers = v128.load(at);
      a = i32x4.add(a, i32x4.dot_i16x8_s(v128.load_ext<i8>(block), numbers));
      b = i32x4.add(b, i32x4.dot_i16x8_s(v128.load_ext<i8>(block, 8), numbers));
      c = i32x4.add(c, i32x4.dot_i16x8_s(v128.load_ext<i8>(block, 16), numbers));
      d = i32x4.add(d, i32x4.dot_i16x8_s(v128.load_ext<i8>(block, 24), numbers));
      block += blockBytes;
    }
    const sums = sumLanes(a, b, c, d);
    const place = row << 2;
    v128.store(
      output + place,
      f32x4.mul(f32x4.convert_i32x4_s(sums), f32x4.mul(scale, v128.load(scales + place))),
    );
  }
}

/**
 * Packs rows 0 to `rows` − 1 of a matrix of a cache, which is stored column after column (`sourceStride` bytes apart), from
 * column `first` on, a multiple of 8. `rows` and `columns` are any numbers; up to 3 more rows and 7 more columns get
 * arbitrary bytes, and are read from `source`.
 */
export function packCache(
  source: usize,
  target: usize,
  first: usize,
  columns: usize,
  rows: usize,
  sourceStride: usize,
  stride: usize,
): void {
  packBlocks(source, target + (first << 2), columns, rows, sourceStride, stride << 2, 0);
}

/** Sum of the lanes of a vector of floats. */
function total(value: v128): f32 {
  return (
    f32x4.extract_lane(value, 0) +
    f32x4.extract_lane(value, 1) +
    (f32x4.extract_lane(value, 2) + f32x4.extract_lane(value, 3))
  );
}

/** Root-mean-square norm with a weight; `output` may be `input`. */
export function normalize(input: usize, weight: usize, output: usize, count: usize, epsilon: f32): void {
  let squares = f32x4.splat(0);
  const end = count << 2;
  for (let at: usize = 0; at < end; at += 16) {
    const value = v128.load(input + at);
    squares = f32x4.add(squares, f32x4.mul(value, value));
  }
  const factor = f32x4.splat(1 / sqrt<f32>(total(squares) / <f32>count + epsilon));
  for (let at: usize = 0; at < end; at += 16)
    v128.store(output + at, f32x4.mul(f32x4.mul(v128.load(input + at), factor), v128.load(weight + at)));
}

/** target += source × factor. */
export function addScaled(target: usize, source: usize, factor: f32, count: usize): void {
  const scale = f32x4.splat(factor);
  for (let at: usize = 0; at < count << 2; at += 16)
    v128.store(target + at, f32x4.add(v128.load(target + at), f32x4.mul(v128.load(source + at), scale)));
}

/** Rotates heads in place: the two halves of a head are the coordinates. `cosines` and `sines` have half a head. */
export function rotate(heads: usize, count: usize, width: usize, cosines: usize, sines: usize): void {
  const half = width << 1;
  for (let head: usize = 0; head < count; head++) {
    const first = heads + head * (width << 2),
      second = first + half;
    for (let at: usize = 0; at < half; at += 16) {
      const x = v128.load(first + at),
        y = v128.load(second + at);
      const cosine = v128.load(cosines + at),
        sine = v128.load(sines + at);
      v128.store(first + at, f32x4.sub(f32x4.mul(x, cosine), f32x4.mul(y, sine)));
      v128.store(second + at, f32x4.add(f32x4.mul(y, cosine), f32x4.mul(x, sine)));
    }
  }
}

/** e to the power of each lane, with a relative error below 2e-7; lanes are limited to ±87. */
function exponential(value: v128): v128 {
  const limited = f32x4.min(f32x4.max(value, f32x4.splat(-87)), f32x4.splat(87));
  const power = f32x4.nearest(f32x4.mul(limited, f32x4.splat(1.44269504088896)));
  let rest = f32x4.sub(limited, f32x4.mul(power, f32x4.splat(0.693359375)));
  rest = f32x4.add(rest, f32x4.mul(power, f32x4.splat(2.1219444e-4)));
  let sum = f32x4.splat(1 / 5040.0);
  sum = f32x4.add(f32x4.mul(sum, rest), f32x4.splat(1 / 720.0));
  sum = f32x4.add(f32x4.mul(sum, rest), f32x4.splat(1 / 120.0));
  sum = f32x4.add(f32x4.mul(sum, rest), f32x4.splat(1 / 24.0));
  sum = f32x4.add(f32x4.mul(sum, rest), f32x4.splat(1 / 6.0));
  sum = f32x4.add(f32x4.mul(sum, rest), f32x4.splat(0.5));
  sum = f32x4.add(f32x4.mul(sum, rest), f32x4.splat(1));
  sum = f32x4.add(f32x4.mul(sum, rest), f32x4.splat(1));
  const exponent = i32x4.shl(i32x4.add(i32x4.trunc_sat_f32x4_s(power), i32x4.splat(127)), 23);
  return f32x4.mul(sum, exponent);
}

/** output = gate ÷ (1 + e^−gate) × up. */
export function gateSilu(gate: usize, up: usize, output: usize, count: usize): void {
  const one = f32x4.splat(1);
  for (let at: usize = 0; at < count << 2; at += 16) {
    const value = v128.load(gate + at);
    const activated = f32x4.div(value, f32x4.add(one, exponential(f32x4.neg(value))));
    v128.store(output + at, f32x4.mul(activated, v128.load(up + at)));
  }
}

/** output = gelu(gate) × up, with the approximation by the hyperbolic tangent. */
export function gateGelu(gate: usize, up: usize, output: usize, count: usize): void {
  const one = f32x4.splat(1);
  for (let at: usize = 0; at < count << 2; at += 16) {
    const x = v128.load(gate + at);
    const cube = f32x4.mul(f32x4.mul(x, x), x);
    const inner = f32x4.add(x, f32x4.mul(cube, f32x4.splat(0.044715)));
    const twice = f32x4.mul(inner, f32x4.splat(-1.5957691216057308));
    const activated = f32x4.div(x, f32x4.add(one, exponential(twice)));
    v128.store(output + at, f32x4.mul(activated, v128.load(up + at)));
  }
}

/**
 * Softmax of `count` scores in place; positions before `first` get the weight 0, and so do those from `count` up to
 * `padded`, a multiple of 16.
 */
function softmax(scores: usize, first: usize, count: usize, padded: usize): void {
  let index: usize = 0;
  for (; index < first; index++) store<f32>(scores + (index << 2), -1e9);
  for (index = count; index < padded; index++) store<f32>(scores + (index << 2), -1e9);
  let largest = f32x4.splat(-1e9);
  const end = padded << 2;
  for (let at: usize = 0; at < end; at += 16) largest = f32x4.pmax(largest, v128.load(scores + at));
  const top = f32x4.splat(largestLane(largest));
  let sum = f32x4.splat(0);
  for (let at: usize = 0; at < end; at += 16) {
    const score = v128.load(scores + at);
    const weight = v128.and(exponential(f32x4.sub(score, top)), f32x4.gt(score, f32x4.splat(-1e8)));
    v128.store(scores + at, weight);
    sum = f32x4.add(sum, weight);
  }
  const divisor = f32x4.splat(total(sum));
  for (let at: usize = 0; at < end; at += 16)
    v128.store(scores + at, f32x4.div(v128.load(scores + at), divisor));
}

/**
 * Attention of one token over positions `first` to `count` − 1 of an int8 cache. `queries` and `output` have `heads` heads of
 * `width` floats. The cache has `kvHeads` heads: keys are packed matrices of positions × `width`, values of `width` ×
 * positions with the stride `capacity`, both with a scale for each position. `scratch` holds `capacity` floats, then integers of
 * 16 bits: `capacity`, and at least `width`. Queries and the weights of values are rounded to the given levels. `ones` holds `width` times 1.
 */
export function attendIntegers(
  queries: usize,
  keys: usize,
  keyScales: usize,
  values: usize,
  valueScales: usize,
  ones: usize,
  scratch: usize,
  output: usize,
  first: usize,
  count: usize,
  capacity: usize,
  heads: usize,
  kvHeads: usize,
  width: usize,
  factor: f32,
  queryLevels: f32,
  weightLevels: f32,
): void {
  const integers = scratch + (capacity << 2);
  const padded = (count + 15) & ~15;
  for (let head: usize = 0; head < heads; head++) {
    const kvHead = (head * kvHeads) / heads;
    const numbers = kvHead * capacity * width;
    const scales = kvHead * (capacity << 2);
    const place = head * (width << 2);
    const largest = quantizeWords(queries + place, integers, width, queryLevels);
    const keyFactor = largest * (factor / queryLevels / 127);
    const rows = (count + 3) & ~3;
    multiplyCache(keys + numbers, keyScales + scales, integers, keyFactor, scratch, rows, width, width);
    softmax(scratch, first, count, padded);
    for (let at: usize = 0; at < padded << 2; at += 16)
      v128.store(scratch + at, f32x4.mul(v128.load(scratch + at), v128.load(valueScales + scales + at)));
    const valueFactor = quantizeWords(scratch, integers, padded, weightLevels) / weightLevels / 127;
    multiplyCache(values + numbers, ones, integers, valueFactor, output + place, width, padded, capacity);
  }
}

/** Product of a query and one key, as four sums that are to be added. */
function score(query: usize, key: usize, bytes: usize): v128 {
  let low = f32x4.splat(0),
    high = low;
  for (let at: usize = 0; at < bytes; at += 32) {
    low = f32x4.add(low, f32x4.mul(v128.load(query + at), v128.load(key + at)));
    high = f32x4.add(high, f32x4.mul(v128.load(query + at, 16), v128.load(key + at, 16)));
  }
  return f32x4.add(low, high);
}

/** Scores of a query and the keys at the positions from `first` to `count` − 1, `[positions, width]`. */
function scoreFloats(
  query: usize,
  keys: usize,
  scores: usize,
  first: usize,
  count: usize,
  bytes: usize,
): void {
  for (let position = first & ~3; position < count; position += 4) {
    const key = keys + position * bytes;
    const a = score(query, key, bytes);
    const b = score(query, key + bytes, bytes);
    const c = score(query, key + 2 * bytes, bytes);
    const d = score(query, key + 3 * bytes, bytes);
    const ab = f32x4.add(v128.shuffle<f32>(a, b, 0, 4, 1, 5), v128.shuffle<f32>(a, b, 2, 6, 3, 7));
    const cd = f32x4.add(v128.shuffle<f32>(c, d, 0, 4, 1, 5), v128.shuffle<f32>(c, d, 2, 6, 3, 7));
    const sums = f32x4.add(v128.shuffle<f64>(ab, cd, 0, 2), v128.shuffle<f64>(ab, cd, 1, 3));
    v128.store(scores + (position << 2), sums);
  }
}

/** Sum of the values at the positions from `first` to `count` − 1, `[positions, width]`, by their weights. */
function weighFloats(
  values: usize,
  weights: usize,
  output: usize,
  first: usize,
  count: usize,
  bytes: usize,
): void {
  for (let at: usize = 0; at < bytes; at += 64) {
    // prettier-ignore
    let a = f32x4.splat(0), b = a, c = a, d = a;
    let value = values + first * bytes + at;
    for (let position = first; position < count; position++) {
      const weight = v128.load32_splat(weights + (position << 2));
      a = f32x4.add(a, f32x4.mul(weight, v128.load(value)));
      b = f32x4.add(b, f32x4.mul(weight, v128.load(value, 16)));
      c = f32x4.add(c, f32x4.mul(weight, v128.load(value, 32)));
      d = f32x4.add(d, f32x4.mul(weight, v128.load(value, 48)));
      value += bytes;
    }
    v128.store(output + at, a);
    v128.store(output + at, b, 16);
    v128.store(output + at, c, 32);
    v128.store(output + at, d, 48);
  }
}

/** Like {@link attendIntegers}, over a float cache of `kvHeads` heads, `[capacity, width]` each. */
export function attendFloats(
  queries: usize,
  keys: usize,
  values: usize,
  scratch: usize,
  output: usize,
  first: usize,
  count: usize,
  capacity: usize,
  queryHeads: usize,
  kvHeads: usize,
  width: usize,
  factor: f32,
): void {
  const bytes = width << 2;
  const scale = f32x4.splat(factor);
  const padded = (count + 15) & ~15;
  for (let head: usize = 0; head < queryHeads; head++) {
    const cache = ((head * kvHeads) / queryHeads) * capacity * bytes;
    const place = head * bytes;
    scoreFloats(queries + place, keys + cache, scratch, first, count, bytes);
    for (let at: usize = 0; at < padded << 2; at += 16)
      v128.store(scratch + at, f32x4.mul(v128.load(scratch + at), scale));
    softmax(scratch, first, count, padded);
    weighFloats(values + cache, scratch, output + place, first, count, bytes);
  }
}

/** Rounds one head to int8: value ≈ integer ÷ 127 × the returned largest magnitude. */
function quantizeHead(input: usize, output: usize, width: usize): f32 {
  const largest = magnitude(input, width);
  const divisor = divisorOf(largest);
  const step = f32x4.splat(<f32>1 / 127);
  for (let index: usize = 0; index < width; index += 8) {
    const low = quantize(v128.load(input + (index << 2)), divisor, step);
    const high = quantize(v128.load(input + (index << 2), 16), divisor, step);
    storeBytes(output + index, low, high);
  }
  return largest;
}

/** Writes integers of a key into row `position` of a packed matrix of positions × `width`. */
function putKey(numbers: usize, keys: usize, position: usize, width: usize): void {
  const row = keys + (position >> 2) * (width << 2) + ((position & 3) << 3);
  for (let index: usize = 0; index < width; index += 8)
    store<u64>(row + (index << 2), load<u64>(numbers + index));
}

/** Writes integers of a value into column `position` of a packed matrix of `width` × positions. */
function putValue(numbers: usize, values: usize, position: usize, width: usize, capacity: usize): void {
  const column = values + (position >> 3) * blockBytes + (position & 7);
  for (let index: usize = 0; index < width; index++)
    store<u8>(column + (index >> 2) * (capacity << 2) + ((index & 3) << 3), load<u8>(numbers + index));
}

/**
 * Rounds the keys or values of `kvHeads` heads to int8, and writes them into a cache at a position. `numbers` and `scales` get
 * the integers and their scales, one head behind the other.
 */
export function storeIntegers(
  input: usize,
  numbers: usize,
  scales: usize,
  cache: usize,
  cacheScales: usize,
  position: usize,
  capacity: usize,
  kvHeads: usize,
  width: usize,
  areValues: bool,
): void {
  for (let head: usize = 0; head < kvHeads; head++) {
    const scale = quantizeHead(input, numbers, width);
    store<f32>(scales, scale);
    store<f32>(cacheScales + (position << 2), scale);
    if (areValues) putValue(numbers, cache, position, width, capacity);
    else putKey(numbers, cache, position, width);
    input += width << 2;
    numbers += width;
    scales += 4;
    cache += capacity * width;
    cacheScales += capacity << 2;
  }
}
