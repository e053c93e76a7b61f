import { invalidField } from '#contracts';

/** The first `dimensions` numbers of a vector, at unit length again. Errors: invalid_request beyond its width. */
export function shorten(vector: Float32Array, dimensions: number): Float32Array {
  if (dimensions > vector.length) {
    throw invalidField(
      'dimensions',
      `the model's vectors have ${vector.length} dimensions, ${dimensions} were asked for`,
    );
  }
  const cut = vector.slice(0, dimensions);
  const length = Math.hypot(...cut) || 1;
  return cut.map((value) => value / length);
}
