import { Tensor, type InferenceSession } from 'onnxruntime-node';
import type { CompiledDecoder } from '#engine/onnx-compiler';
import { shape135m } from './random-decoder.js';

const { num_hidden_layers: layers, num_key_value_heads: kvHeads, head_dim: headDim } = shape135m;

const int64 = (values: readonly number[], dims: readonly number[]): Tensor =>
  new Tensor('int64', BigInt64Array.from(values, BigInt), dims);
const repeat = (value: number, count: number): number[] => Array<number>(count).fill(value);
const noise = (length: number): Float32Array =>
  Float32Array.from({ length }, (_, index) => Math.sin(index * 12.9898) / 2);
const noiseInt8 = (length: number): Int8Array =>
  Int8Array.from({ length }, (_, index) => Math.round(Math.sin(index * 12.9898) * 127));
/** Returns all inputs of a pass of a compiled graph over `tokens` tokens of each sequence; the cache contains noise. */
export function cacheFeeds(
  kv: 'float' | 'int8',
  batch: number,
  past: number,
  tokens: number,
): Record<string, Tensor> {
  const { feeds } = new CacheTensors({ layers, kvHeads, headDim, kv }, batch, past);
  return { ...stepFeeds(batch, past, tokens), ...feeds };
}

/** The logits after the last token of each sequence are requested. */
function stepFeeds(batch: number, past: number, tokens: number): Record<string, Tensor> {
  const last = Array.from({ length: batch }, (_unused, row) => (row + 1) * tokens - 1);
  return {
    input_ids: int64(repeat(100, batch * tokens), [batch, tokens]),
    past_lengths: int64(repeat(past - 1, batch), [batch]),
    logit_positions: int64(last, [batch]),
  };
}

/** Keys and values of a batch, filled with noise. */
export class CacheTensors {
  readonly feeds: Record<string, Tensor> = {};
  private readonly data: (Float32Array | Int8Array)[] = [];
  /** `[batch, 2 × layers × kvHeads, capacity]` */
  private readonly scales: Float32Array;

  constructor(
    private readonly model: Pick<CompiledDecoder, 'layers' | 'kvHeads' | 'headDim' | 'kv'>,
    private readonly batch: number,
    private readonly capacity: number,
  ) {
    const { layers, kvHeads, headDim, kv } = model;
    const positionsFirst = [batch, kvHeads, capacity, headDim];
    const size = batch * kvHeads * capacity * headDim;
    const content = kv === 'float' ? noise(size) : noiseInt8(size);
    const heads = 2 * layers * kvHeads;
    this.scales = new Float32Array(kv === 'int8' ? batch * heads * capacity : 0).fill(1);
    if (kv === 'int8')
      this.feeds['past_scales'] = new Tensor('float32', this.scales, [batch, heads, 1, capacity]);
    for (let plane = 0; plane < 2 * layers; plane++) {
      const name = `past_key_values.${plane >> 1}.${plane % 2 ? 'value' : 'key'}`;
      const cacheData = content.slice();
      this.data.push(cacheData);
      const dims = kv === 'int8' && plane % 2 === 0 ? [batch, kvHeads, headDim, capacity] : positionsFirst;
      this.feeds[name] = new Tensor(kv === 'float' ? 'float32' : 'int8', cacheData, dims);
    }
  }

  append(outputs: InferenceSession.OnnxValueMapType, position: number): void {
    const { layers, kvHeads, headDim, kv } = this.model;
    const news = outputs['new_kv']!.data as Float32Array | Int8Array;
    const scales = outputs['new_kv_scale']?.data as Float32Array | undefined;
    const rows = this.batch * kvHeads;
    for (let plane = 0; plane < 2 * layers; plane++)
      for (let row = 0; row < rows; row++) {
        const sequence = Math.floor(row / kvHeads);
        const from = (sequence * 2 * layers + plane) * kvHeads + (row % kvHeads);
        const vector = news.subarray(from * headDim, (from + 1) * headDim);
        if (kv === 'float' || plane % 2 === 1)
          this.data[plane]!.set(vector, (row * this.capacity + position) * headDim);
        else
          for (let dim = 0; dim < headDim; dim++)
            this.data[plane]![(row * headDim + dim) * this.capacity + position] = vector[dim]!;
        if (scales) this.scales[from * this.capacity + position] = scales[from]!;
      }
  }
}
