import { existsSync } from 'node:fs';
import { mkdir, open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** SmolLM-135M's shape with random weights: the speed does not depend on their values. */
export const shape135m = {
  architectures: ['LlamaForCausalLM'],
  model_type: 'llama',
  hidden_size: 576,
  num_hidden_layers: 30,
  num_attention_heads: 9,
  num_key_value_heads: 3,
  head_dim: 64,
  intermediate_size: 1536,
  vocab_size: 49_152,
  max_position_embeddings: 2048,
  rms_norm_eps: 1e-5,
  rope_theta: 10_000,
  tie_word_embeddings: true,
};

/** Bytes per weight by precision: the numbers and the scales of their blocks. */
const bytesPerWeight = {
  int8: { attentionInput: 1, others: 1, head: 1 },
  /** A block of 32 has a scale in half precision. */
  q8_0: { attentionInput: 34 / 32, others: 34 / 32, head: 34 / 32 },
  /** A block has a float scale; with 4 bits also a zero point. */
  'int4, blocks of 128': { attentionInput: 1 + 4 / 128, others: (64 + 4.5) / 128, head: 1 },
  'int4, blocks of 32': { attentionInput: 1 + 4 / 32, others: (16 + 4.5) / 32, head: 1 },
} as const;

/** Bytes of weights that a step reads: all weights except the embedding table, of which it reads one row per token. */
export function stepBytes(form: keyof typeof bytesPerWeight, shape = shape135m): number {
  const { hidden_size: hidden, intermediate_size: inner, num_hidden_layers: layers } = shape;
  const [queries, keys] = [shape.num_attention_heads, shape.num_key_value_heads].map(
    (heads) => heads * shape.head_dim,
  ) as [number, number];
  const { attentionInput, others, head } = bytesPerWeight[form];
  const layer = attentionInput * hidden * (queries + 2 * keys) + others * hidden * (queries + 3 * inner);
  return layers * layer + head * hidden * shape.vocab_size;
}

interface Part {
  readonly name: string;
  readonly dtype: 'F32' | 'I8';
  readonly shape: readonly number[];
  readonly bytes: Uint8Array;
}

/** Writes a checkpoint of this shape once, int8 with one scale per row, and returns its directory. */
export async function makeRandomDecoder(directory: string, shape = shape135m): Promise<string> {
  const path = join(directory, 'model.safetensors');
  if (existsSync(join(directory, 'config.json'))) return directory;
  await mkdir(directory, { recursive: true });
  const parts = [...tensors(shape)];
  const header: Record<string, unknown> = {};
  let offset = 0;
  for (const { name, dtype, shape, bytes } of parts) {
    header[name] = { dtype, shape, data_offsets: [offset, offset + bytes.byteLength] };
    offset += bytes.byteLength;
  }
  const json = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(json.length));
  const file = await open(path, 'w');
  for (const piece of [length, json, ...parts.map(({ bytes }) => bytes)]) await file.writeFile(piece);
  await file.close();
  await writeFile(join(directory, 'config.json'), JSON.stringify(shape));
  return directory;
}

function* tensors(shape: typeof shape135m): Generator<Part> {
  const { hidden_size: hidden, intermediate_size: inner, vocab_size: vocabulary } = shape;
  const queries = shape.num_attention_heads * shape.head_dim;
  const keys = shape.num_key_value_heads * shape.head_dim;
  yield* matrix('model.embed_tokens.weight', vocabulary, hidden);
  yield ones('model.norm.weight', hidden);
  for (let index = 0; index < shape.num_hidden_layers; index++) {
    const layer = `model.layers.${index}`;
    yield ones(`${layer}.input_layernorm.weight`, hidden);
    yield ones(`${layer}.post_attention_layernorm.weight`, hidden);
    yield* matrix(`${layer}.self_attn.q_proj.weight`, queries, hidden);
    yield* matrix(`${layer}.self_attn.k_proj.weight`, keys, hidden);
    yield* matrix(`${layer}.self_attn.v_proj.weight`, keys, hidden);
    yield* matrix(`${layer}.self_attn.o_proj.weight`, hidden, queries);
    yield* matrix(`${layer}.mlp.gate_proj.weight`, inner, hidden);
    yield* matrix(`${layer}.mlp.up_proj.weight`, inner, hidden);
    yield* matrix(`${layer}.mlp.down_proj.weight`, hidden, inner);
  }
}

let state = 1;
function randomByte(): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return state >>> 24;
}

function* matrix(name: string, rows: number, columns: number): Generator<Part> {
  const bytes = new Uint8Array(rows * columns);
  for (let i = 0; i < bytes.length; i++) bytes[i] = randomByte();
  const scales = new Float32Array(rows).fill(1 / (127 * Math.sqrt(columns)));
  yield { name: `${name}_scale`, dtype: 'F32', shape: [rows, 1], bytes: new Uint8Array(scales.buffer) };
  yield { name, dtype: 'I8', shape: [rows, columns], bytes };
}

function ones(name: string, length: number): Part {
  return {
    name,
    dtype: 'F32',
    shape: [length],
    bytes: new Uint8Array(new Float32Array(length).fill(1).buffer),
  };
}
