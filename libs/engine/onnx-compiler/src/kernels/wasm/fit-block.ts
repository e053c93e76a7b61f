/**
 * Rounding of one block to 4 bits, with a search for the step size. The search is in memory, in this order:
 * - the number of coverages and the number of reaches, int32 (see blocks.ts);
 * - at 8, twelve doubles for the coverages, then the reaches;
 * - at 104, 21 candidates;
 * - at 608, a copy of a block whose length is not a multiple of 4, of up to 128 floats.
 */
const coverageCount: usize = 0;
const reachCount: usize = 4;
const numbers: usize = 8;
const candidates: usize = 104;
const paddedBlock: usize = 608;

/** A candidate: its inverse step size, its zero point and its quality, doubles. */
const candidateBytes: usize = 24;
const zeroPointOffset: usize = 8;
const gainOffset: usize = 16;
/** Candidates that are judged together: each sum waits for its previous addition. */
const groupBytes: usize = 3 * candidateBytes;

const middle: f64 = 8;
const highest: f64 = 15;

/** The largest of four lanes. */
export function largestLane(values: v128): f32 {
  const high = f32x4.max(values, v128.shuffle<f32>(values, values, 2, 3, 0, 1));
  return max(f32x4.extract_lane(high, 0), f32x4.extract_lane(high, 1));
}

/** Levels of two values, from 0 to 15. `shift`: the zero point + 0.5. */
function levelsOf(pair: v128, inverseStep: v128, shift: v128): v128 {
  const position = f64x2.add(f64x2.mul(pair, inverseStep), shift);
  const limited = f64x2.pmin(f64x2.pmax(f64x2.splat(0), position), f64x2.splat(highest));
  return f64x2.floor(limited);
}

function sumOf(pair: v128): f64 {
  return f64x2.extract_lane(pair, 0) + f64x2.extract_lane(pair, 1);
}

/**
 * Quality of a step size. With the best scale for rounded values q the squared error is Σx² − (Σxq)² / Σq², so the second term
 * is compared.
 */
function storeGain(candidate: usize, productSums: v128, squareSums: v128): void {
  const products = sumOf(productSums);
  const squares = sumOf(squareSums);
  store<f64>(candidate, squares > 0 ? (products * products) / squares : 0, gainOffset);
}

/** Computes the quality of three candidates. */
function judge(first: usize, values: usize, end: usize): void {
  const second = first + candidateBytes,
    third = second + candidateBytes;
  const stepA = v128.load64_splat(first),
    stepB = v128.load64_splat(second),
    stepC = v128.load64_splat(third);
  const zeroA = v128.load64_splat(first, zeroPointOffset),
    zeroB = v128.load64_splat(second, zeroPointOffset),
    zeroC = v128.load64_splat(third, zeroPointOffset);
  const half = f64x2.splat(0.5);
  const shiftA = f64x2.add(zeroA, half),
    shiftB = f64x2.add(zeroB, half),
    shiftC = f64x2.add(zeroC, half);
  // prettier-ignore
  let productsA = f64x2.splat(0), productsB = productsA, productsC = productsA;
  // prettier-ignore
  let squaresA = productsA, squaresB = productsA, squaresC = productsA;
  for (; values < end; values += 8) {
    const pair = f64x2.promote_low_f32x4(v128.load64_zero(values));
    const a = f64x2.sub(levelsOf(pair, stepA, shiftA), zeroA);
    const b = f64x2.sub(levelsOf(pair, stepB, shiftB), zeroB);
    const c = f64x2.sub(levelsOf(pair, stepC, shiftC), zeroC);
    productsA = f64x2.add(productsA, f64x2.mul(pair, a));
    productsB = f64x2.add(productsB, f64x2.mul(pair, b));
    productsC = f64x2.add(productsC, f64x2.mul(pair, c));
    squaresA = f64x2.add(squaresA, f64x2.mul(a, a));
    squaresB = f64x2.add(squaresB, f64x2.mul(b, b));
    squaresC = f64x2.add(squaresC, f64x2.mul(c, c));
  }
  storeGain(first, productsA, squaresA);
  storeGain(second, productsB, squaresB);
  storeGain(third, productsC, squaresC);
}

/** First numbers of two pairs. */
function firsts(one: v128, other: v128): v128 {
  return v128.shuffle<i64>(one, other, 0, 2);
}

/** Second numbers of two pairs. */
function seconds(one: v128, other: v128): v128 {
  return v128.shuffle<i64>(one, other, 1, 3);
}

/** 2⁵²: the lowest bits of a double that is so much larger than an integer are that integer. */
const integerShift: f64 = 4503599627370496;

/** Writes the levels of two pairs in two bytes. */
function storeLevels(place: usize, one: v128, other: v128): void {
  const bytes = f64x2.add(firsts(one, other), f64x2.mul(seconds(one, other), f64x2.splat(16)));
  const shifted = f64x2.add(bytes, f64x2.splat(integerShift));
  store<u8>(place, <u8>i8x16.extract_lane_u(shifted, 0));
  store<u8>(place, <u8>i8x16.extract_lane_u(shifted, 8), 1);
}

/** Writes the levels of a block, two a byte; returns the scale with the least squared error for them. */
function pack(values: usize, end: usize, inverseStep: f64, zeroPoint: f64, output: usize): f64 {
  const step = f64x2.splat(inverseStep);
  const zero = f64x2.splat(zeroPoint);
  const shift = f64x2.splat(zeroPoint + 0.5);
  let products: f64 = 0;
  let squares = f64x2.splat(0);
  for (; values < end; values += 16, output += 2) {
    const one = f64x2.promote_low_f32x4(v128.load64_zero(values));
    const other = f64x2.promote_low_f32x4(v128.load64_zero(values, 8));
    const levels = levelsOf(one, step, shift);
    const otherLevels = levelsOf(other, step, shift);
    storeLevels(output, levels, otherLevels);
    const distances = f64x2.sub(levels, zero);
    const otherDistances = f64x2.sub(otherLevels, zero);
    const terms = f64x2.mul(one, distances);
    const otherTerms = f64x2.mul(other, otherDistances);
    const sums = f64x2.add(firsts(terms, otherTerms), seconds(terms, otherTerms));
    products = products + f64x2.extract_lane(sums, 0) + f64x2.extract_lane(sums, 1);
    squares = f64x2.add(squares, f64x2.mul(distances, distances));
    squares = f64x2.add(squares, f64x2.mul(otherDistances, otherDistances));
  }
  const total = sumOf(squares);
  return total > 0 ? products / total : 0;
}

/** Rounds half up, as Math.round does. */
function round(value: f64): f64 {
  const up = ceil(value);
  return up - 0.5 <= value ? up : up - 1;
}

function addCandidate(place: usize, inverseStep: f64, zeroPoint: f64): usize {
  store<f64>(place, inverseStep);
  store<f64>(place, zeroPoint, zeroPointOffset);
  return place + candidateBytes;
}

/** The first value with the magnitude of `largest`. */
function firstOf(values: usize, largest: f64): f64 {
  while (<f64>abs(load<f32>(values)) != largest) values += 4;
  return load<f32>(values);
}

/**
 * Writes the candidates of a block whose values lie from `low` to `high`: ranges that need not be symmetric, and steps around
 * the middle. Returns their end.
 */
function addCandidates(search: usize, low: f64, high: f64, largest: f64, isSymmetric: bool): usize {
  let place = search + candidates;
  let number = search + numbers;
  const reaches = number + (load<i32>(search, coverageCount) << 3);
  if (!isSymmetric)
    for (; number < reaches; number += 8) {
      const coverage = load<f64>(number);
      const inverseStep = highest / ((high - low) * coverage);
      place = addCandidate(place, inverseStep, round(-low * coverage * inverseStep));
    }
  const end = reaches + (load<i32>(search, reachCount) << 3);
  for (number = reaches; number < end; number += 8)
    place = addCandidate(place, -load<f64>(number) / largest, middle);
  // The last group is filled up with its last candidate, which does not win against itself.
  const last = place - candidateBytes;
  while ((place - search - candidates) % groupBytes != 0)
    place = addCandidate(place, load<f64>(last), load<f64>(last, zeroPointOffset));
  return place;
}

/** Copies a block behind the search, and adds zeros, which have no influence. */
function padded(values: usize, count: usize, search: usize): usize {
  const target = search + paddedBlock;
  memory.copy(target, values, count << 2);
  memory.fill(target + (count << 2), 0, 16);
  return target;
}

/**
 * Rounds `count` floats, up to 128: writes the levels, two a byte and in groups of two bytes, and the scale. Returns the
 * zero point.
 */
export function fitBlock(
  values: usize,
  count: usize,
  output: usize,
  scale: usize,
  search: usize,
  isSymmetric: bool,
): i32 {
  if (count & 3) values = padded(values, count, search);
  const end = values + (((count + 3) & ~3) << 2);
  let lows = f32x4.splat(0),
    highs = lows;
  for (let at = values; at < end; at += 16) {
    const four = v128.load(at);
    lows = f32x4.pmin(lows, four);
    highs = f32x4.pmax(highs, four);
  }
  const low = -(<f64>largestLane(f32x4.neg(lows)));
  const high = <f64>largestLane(highs);
  let inverseStep: f64 = 0,
    zeroPoint = middle;
  if (low != high) {
    const largest = isSymmetric && high == -low ? firstOf(values, high) : high > -low ? high : low;
    const last = addCandidates(search, low, high, largest, isSymmetric);
    let most: f64 = -1;
    for (let group = search + candidates; group < last; group += groupBytes) judge(group, values, end);
    for (let candidate = search + candidates; candidate < last; candidate += candidateBytes) {
      const gain = load<f64>(candidate, gainOffset);
      if (gain <= most) continue;
      most = gain;
      inverseStep = load<f64>(candidate);
      zeroPoint = load<f64>(candidate, zeroPointOffset);
    }
  }
  store<f32>(scale, <f32>pack(values, end, inverseStep, zeroPoint, output));
  return <i32>zeroPoint;
}
