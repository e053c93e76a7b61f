/** The largest of four lanes. */
export function largestLane(values: v128): f32 {
  const high = f32x4.max(values, v128.shuffle<f32>(values, values, 2, 3, 0, 1));
  return max(f32x4.extract_lane(high, 0), f32x4.extract_lane(high, 1));
}

/** Largest magnitude of `count` floats. */
export function magnitude(input: usize, count: usize): f32 {
  let largest = f32x4.splat(0);
  const end = input + (count << 2);
  for (let at = input; at < end; at += 16) largest = f32x4.pmax(largest, f32x4.abs(v128.load(at)));
  return largestLane(largest);
}

/** Sum of four integers. */
export function sumOfLanes(values: v128): i32 {
  return (
    i32x4.extract_lane(values, 0) +
    i32x4.extract_lane(values, 1) +
    i32x4.extract_lane(values, 2) +
    i32x4.extract_lane(values, 3)
  );
}

/** Stores 8 integers from −128 to 127 as bytes. */
export function storeBytes(target: usize, low: v128, high: v128): void {
  const words = i16x8.narrow_i32x4_s(low, high);
  v128.store64_lane(target, i8x16.narrow_i16x8_s(words, words), 0);
}
