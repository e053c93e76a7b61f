import { existsSync } from 'node:fs';
import { open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { shape135m } from './random-decoder.js';

/** The types of metadata values that a Llama model needs. */
type MetadataValue =
  string | { uint32: number } | { float32: number } | readonly string[] | Float32Array | Int32Array;
const valueType = { uint32: 4, int32: 5, float32: 6, string: 8, array: 9 } as const;
const tensorType = { f32: 0, q8: 8 } as const;
const alignment = 32;
/** Weights of a Q8_0 block; each block has a scale in half precision. */
const blockSize = 32;

interface GgufTensor {
  readonly name: string;
  readonly type: keyof typeof tensorType;
  /** Rows and columns, or the length of a vector. */
  readonly shape: readonly number[];
  readonly bytes: Uint8Array;
}

/**
 * Writes the int8 checkpoint of a Llama as GGUF, once: matrices as Q8_0, with the same int8 numbers and the row's scale
 * (rounded to half precision) in every block; vectors as float32. The vocabulary is invented, since the peer gets token
 * ids. Returns the file's path.
 */
export async function writeGguf(directory: string, config: typeof shape135m): Promise<string> {
  const path = join(directory, 'model-q8_0.gguf');
  if (existsSync(path)) return path;
  const checkpoint = await Checkpoint.read(join(directory, 'model.safetensors'));
  const tensors = [...tensorsOf(checkpoint, config)];
  const metadata = metadataOf(config);
  const header = Buffer.concat([
    Buffer.from('GGUF'),
    uint32(3),
    uint64(tensors.length),
    uint64(Object.keys(metadata).length),
    ...Object.entries(metadata).flatMap(([key, value]) => [text(key), ...encode(value)]),
    ...describe(tensors),
  ]);
  const file = await open(`${path}.partial`, 'w');
  await file.writeFile(padded(header));
  for (const { bytes } of tensors) await file.writeFile(padded(bytes));
  await file.close();
  await rename(`${path}.partial`, path);
  return path;
}

function metadataOf(config: typeof shape135m): Record<string, MetadataValue> {
  const { vocab_size: vocabulary, num_attention_heads: heads, head_dim: headDim } = config;
  // The library needs the tokens of bytes; other tokens can have any text.
  const bytes = Array.from(
    { length: 256 },
    (_unused, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`,
  );
  const known = ['<unk>', '<s>', '</s>', ...bytes];
  const tokens = Array.from({ length: vocabulary }, (_unused, id) => known[id] ?? `t${id}`);
  return {
    'general.architecture': 'llama',
    'general.name': 'random',
    'llama.context_length': { uint32: config.max_position_embeddings },
    'llama.embedding_length': { uint32: config.hidden_size },
    'llama.block_count': { uint32: config.num_hidden_layers },
    'llama.feed_forward_length': { uint32: config.intermediate_size },
    'llama.attention.head_count': { uint32: heads },
    'llama.attention.head_count_kv': { uint32: config.num_key_value_heads },
    'llama.attention.layer_norm_rms_epsilon': { float32: config.rms_norm_eps },
    'llama.rope.dimension_count': { uint32: headDim },
    'llama.rope.freq_base': { float32: config.rope_theta },
    'llama.vocab_size': { uint32: vocabulary },
    'tokenizer.ggml.model': 'llama',
    'tokenizer.ggml.tokens': tokens,
    'tokenizer.ggml.scores': new Float32Array(vocabulary),
    // 1: normal, 2: unknown, 3: control, 6: byte.
    'tokenizer.ggml.token_type': Int32Array.from(
      tokens,
      (_token, id) => [2, 3, 3][id] ?? (id < known.length ? 6 : 1),
    ),
    'tokenizer.ggml.bos_token_id': { uint32: 1 },
    'tokenizer.ggml.eos_token_id': { uint32: 2 },
  };
}

function* tensorsOf(checkpoint: Checkpoint, config: typeof shape135m): Generator<GgufTensor> {
  const { num_attention_heads: heads, num_key_value_heads: kvHeads } = config;
  yield checkpoint.matrix('token_embd', 'model.embed_tokens');
  yield checkpoint.vector('output_norm', 'model.norm');
  for (let index = 0; index < config.num_hidden_layers; index++) {
    const [to, from] = [`blk.${index}`, `model.layers.${index}`];
    yield checkpoint.vector(`${to}.attn_norm`, `${from}.input_layernorm`);
    yield checkpoint.vector(`${to}.ffn_norm`, `${from}.post_attention_layernorm`);
    yield checkpoint.matrix(`${to}.attn_q`, `${from}.self_attn.q_proj`, heads);
    yield checkpoint.matrix(`${to}.attn_k`, `${from}.self_attn.k_proj`, kvHeads);
    yield checkpoint.matrix(`${to}.attn_v`, `${from}.self_attn.v_proj`);
    yield checkpoint.matrix(`${to}.attn_output`, `${from}.self_attn.o_proj`);
    yield checkpoint.matrix(`${to}.ffn_gate`, `${from}.mlp.gate_proj`);
    yield checkpoint.matrix(`${to}.ffn_up`, `${from}.mlp.up_proj`);
    yield checkpoint.matrix(`${to}.ffn_down`, `${from}.mlp.down_proj`);
  }
}

/** The safetensors that `makeRandomDecoder` wrote: int8 matrices with a scale a row, float32 vectors. */
class Checkpoint {
  private constructor(
    private readonly entries: Record<string, { shape: number[]; data_offsets: [number, number] }>,
    private readonly data: Buffer,
  ) {}

  static async read(path: string): Promise<Checkpoint> {
    const file = await readFile(path);
    const length = Number(file.readBigUInt64LE(0));
    return new Checkpoint(JSON.parse(file.toString('utf8', 8, 8 + length)), file.subarray(8 + length));
  }

  vector(name: string, from: string): GgufTensor {
    const { shape, bytes } = this.read(`${from}.weight`);
    return { name: `${name}.weight`, type: 'f32', shape, bytes };
  }

  /** @param heads Of a matrix that makes rotated heads: llama.cpp rotates neighbors, so the halves of a head interleave. */
  matrix(name: string, from: string, heads?: number): GgufTensor {
    const { shape, bytes } = this.read(`${from}.weight`);
    // A copy, since the numbers may be unaligned in the file, and Buffer's own slice would be a view.
    const scales = new Float32Array(Uint8Array.from(this.read(`${from}.weight_scale`).bytes).buffer);
    const [rows = 0, columns = 0] = shape;
    const rowBytes = (columns / blockSize) * (blockSize + 2);
    const blocks = new Uint8Array(rows * rowBytes);
    for (let row = 0; row < rows; row++) {
      const source = heads === undefined ? row : halvesInterleaved(row, rows / heads);
      writeRow(
        blocks.subarray(row * rowBytes),
        bytes.subarray(source * columns, (source + 1) * columns),
        scales[source]!,
      );
    }
    return { name: `${name}.weight`, type: 'q8', shape, bytes: blocks };
  }

  private read(name: string): { shape: number[]; bytes: Uint8Array } {
    const entry = this.entries[name];
    if (!entry) throw new Error(`The checkpoint does not have ${name}.`);
    return { shape: entry.shape, bytes: this.data.subarray(...entry.data_offsets) };
  }
}

/** Returns the row of the checkpoint for a row of the GGUF. */
function halvesInterleaved(row: number, headDim: number): number {
  const [head, place] = [Math.floor(row / headDim), row % headDim];
  return head * headDim + (place % 2) * (headDim / 2) + Math.floor(place / 2);
}

function writeRow(target: Uint8Array, values: Uint8Array, scale: number): void {
  const half = halfPrecision(scale);
  for (let block = 0; block * blockSize < values.length; block++) {
    const at = block * (blockSize + 2);
    target[at] = half & 0xff;
    target[at + 1] = half >> 8;
    target.set(values.subarray(block * blockSize, (block + 1) * blockSize), at + 2);
  }
}

/** Returns the half-precision bits of a positive number between 2⁻²⁴ and 65,504. */
function halfPrecision(value: number): number {
  const exponent = Math.max(-14, Math.floor(Math.log2(value)));
  const fraction = Math.round((value / 2 ** exponent) * 1024);
  // A fraction of 1,024 and more carries the leading one into the exponent by itself.
  return fraction < 1024 ? fraction : ((exponent + 14) << 10) + fraction;
}

function describe(tensors: readonly GgufTensor[]): Buffer[] {
  let offset = 0;
  return tensors.flatMap(({ name, type, shape, bytes }) => {
    const start = offset;
    offset += Math.ceil(bytes.length / alignment) * alignment;
    // The innermost dimension comes first.
    const dimensions = shape.toReversed().map(uint64);
    return [text(name), uint32(shape.length), ...dimensions, uint32(tensorType[type]), uint64(start)];
  });
}

function encode(value: MetadataValue): Buffer[] {
  if (typeof value === 'string') return [uint32(valueType.string), text(value)];
  if (value instanceof Float32Array || value instanceof Int32Array) {
    const type = value instanceof Float32Array ? valueType.float32 : valueType.int32;
    return [uint32(valueType.array), uint32(type), uint64(value.length), Buffer.from(value.buffer)];
  }
  if ('uint32' in value) return [uint32(valueType.uint32), uint32(value.uint32)];
  if ('float32' in value)
    return [uint32(valueType.float32), Buffer.from(Float32Array.of(value.float32).buffer)];
  return [uint32(valueType.array), uint32(valueType.string), uint64(value.length), ...value.map(text)];
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([uint64(bytes.length), bytes]);
}

function uint32(value: number): Buffer {
  return Buffer.from(Uint32Array.of(value).buffer);
}

function uint64(value: number): Buffer {
  return Buffer.from(BigUint64Array.of(BigInt(value)).buffer);
}

function padded(bytes: Uint8Array): Buffer {
  return Buffer.concat([bytes, Buffer.alloc((alignment - (bytes.length % alignment)) % alignment)]);
}
