/** Poolings of sentence-transformers, by the names in its files. */
export const poolingModes = [
  'cls',
  'max',
  'mean',
  'mean_sqrt_len_tokens',
  'weightedmean',
  'lasttoken',
] as const;
/** Pooling of token vectors to the vector of a text. */
export type PoolingMode = (typeof poolingModes)[number];

/**
 * Pools the token vectors of one text by each mode; the results follow each other.
 * @param tokens `[sequence, width]` of this text, without padding.
 */
export function poolTokens(
  tokens: Float32Array,
  width: number,
  modes: readonly PoolingMode[],
): Float32Array<ArrayBuffer> {
  const pooled = new Float32Array(width * modes.length);
  for (const [index, mode] of modes.entries())
    poolInto(pooled.subarray(index * width, (index + 1) * width), tokens, mode);
  return pooled;
}

function poolInto(pooled: Float32Array, tokens: Float32Array, mode: PoolingMode): void {
  const width = pooled.length;
  const length = tokens.length / width;
  if (mode === 'cls') pooled.set(tokens.subarray(0, width));
  else if (mode === 'lasttoken') pooled.set(tokens.subarray((length - 1) * width));
  else if (mode === 'max') maximumInto(pooled, tokens);
  else {
    const total = mode === 'weightedmean' ? (length * (length + 1)) / 2 : length;
    const divisor = mode === 'mean_sqrt_len_tokens' ? Math.sqrt(total) : total;
    sumInto(pooled, tokens, mode === 'weightedmean');
    for (let column = 0; column < width; column++) pooled[column]! /= divisor;
  }
}

function maximumInto(pooled: Float32Array, tokens: Float32Array): void {
  pooled.set(tokens.subarray(0, pooled.length));
  for (const [index, value] of tokens.entries()) {
    const column = index % pooled.length;
    if (value > pooled[column]!) pooled[column] = value;
  }
}

/** Adds up the token vectors; `isWeighted`: the first token counts once, the second twice, and so on. */
function sumInto(pooled: Float32Array, tokens: Float32Array, isWeighted: boolean): void {
  const width = pooled.length;
  for (let row = 0; row < tokens.length / width; row++) {
    const weight = isWeighted ? row + 1 : 1;
    for (let column = 0; column < width; column++) pooled[column]! += weight * tokens[row * width + column]!;
  }
}

/** Scales a vector to unit length, in place. A vector of zeros stays as it is. */
export function normalizeVector(vector: Float32Array): Float32Array {
  let squares = 0;
  for (const value of vector) squares += value * value;
  const scale = squares > 0 ? 1 / Math.sqrt(squares) : 0;
  for (let index = 0; index < vector.length; index++) vector[index]! *= scale;
  return vector;
}
