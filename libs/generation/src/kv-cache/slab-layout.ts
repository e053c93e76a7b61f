import type { CompiledDecoder } from '#onnx-compiler';

/** What of a compiled decoder decides how its cache is laid out. */
export type CacheShape = Pick<CompiledDecoder, 'layers' | 'kvHeads' | 'headDim' | 'kv'>;

export type SlabArray = Float32Array | Int8Array;

/**
 * One input of the graph that holds a part of the cache. Per sequence it has `rows` rows of `capacity` positions of
 * `width` numbers, one after the other.
 */
export interface Plane {
  readonly name: string;
  readonly type: 'float32' | 'int8';
  readonly rows: number;
  readonly width: number;
  /** Where its new values lie in the graph's outputs: index along the first axis. */
  readonly source: { readonly output: 'new_kv' | 'new_kv_scale'; readonly index: number };
  /** Positions are last, so that new values (a vector per position) are written crosswise. */
  readonly transposed: boolean;
  readonly dims: (batch: number, capacity: number) => number[];
}

/** The planes of a decoder, in the order of its layers. */
export function planesOf(shape: CacheShape): Plane[] {
  return Array.from({ length: shape.layers }, (_unused, layer) => layerPlanes(shape, layer)).flat();
}

/** Bytes that one position of one sequence takes. */
export function bytesPerPosition(shape: CacheShape): number {
  const { layers, kvHeads, headDim, kv } = shape;
  const perHead = kv === 'int8' ? headDim + 4 : headDim * 4;
  return 2 * layers * kvHeads * perHead;
}

function layerPlanes({ kvHeads, headDim, kv }: CacheShape, layer: number): Plane[] {
  const vectors = (part: 'key' | 'value', index: number): Plane => ({
    name: `past_key_values.${layer}.${part}`,
    type: kv === 'int8' ? 'int8' : 'float32',
    rows: kvHeads,
    width: headDim,
    source: { output: 'new_kv', index },
    transposed: false,
    dims: (batch, capacity) => [batch, kvHeads, capacity, headDim],
  });
  const key = vectors('key', 2 * layer);
  const value = vectors('value', 2 * layer + 1);
  if (kv === 'float') return [key, value];
  const scale = ({ name, source }: Plane): Plane => ({
    name: `${name}_scale`,
    type: 'float32',
    rows: kvHeads,
    width: 1,
    source: { output: 'new_kv_scale', index: source.index },
    transposed: false,
    dims: (batch, capacity) => [batch, kvHeads, 1, capacity],
  });
  const crosswise: Plane = {
    ...key,
    rows: kvHeads * headDim,
    width: 1,
    transposed: true,
    dims: (batch, capacity) => [batch, kvHeads, headDim, capacity],
  };
  return [crosswise, value, scale(key), scale(value)];
}
