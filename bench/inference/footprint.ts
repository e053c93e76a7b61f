/**
 * Memory of the engine with a model of Qwen3-0.6B's shape (596 M random weights in bfloat16): while it is compiled and
 * loaded, and after an answer. Each precision is measured in two processes: one that compiles, and one that finds
 * the compiled graph.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, open, readFile, rm, writeFile, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { builtFile } from '#platform/foundation';
import { loadGenerator } from '#engine/generation';
import type { WeightPrecision } from '#engine/onnx-compiler';
import { table } from '../harness/markdown.js';
import type { Subject } from '../harness/subject.js';
import { benchFolder, bundledModel, digits } from './models.js';

const shape = {
  architectures: ['Qwen3ForCausalLM'],
  model_type: 'qwen3',
  hidden_size: 1024,
  num_hidden_layers: 28,
  num_attention_heads: 16,
  num_key_value_heads: 8,
  head_dim: 128,
  intermediate_size: 3072,
  vocab_size: 151_936,
  max_position_embeddings: 40_960,
  rms_norm_eps: 1e-6,
  rope_theta: 1_000_000,
  tie_word_embeddings: true,
  hidden_act: 'silu',
};

/** Names and sizes of the checkpoint's tensors. */
function tensorShapes(): [string, number[]][] {
  const { hidden_size: hidden, intermediate_size: inner, head_dim: width } = shape;
  const [queries, keys] = [shape.num_attention_heads * width, shape.num_key_value_heads * width];
  const layers = Array.from({ length: shape.num_hidden_layers }, (_unused, index): [string, number[]][] => {
    const layer = `model.layers.${index}`;
    return [
      [`${layer}.input_layernorm.weight`, [hidden]],
      [`${layer}.post_attention_layernorm.weight`, [hidden]],
      [`${layer}.self_attn.q_proj.weight`, [queries, hidden]],
      [`${layer}.self_attn.k_proj.weight`, [keys, hidden]],
      [`${layer}.self_attn.v_proj.weight`, [keys, hidden]],
      [`${layer}.self_attn.o_proj.weight`, [hidden, queries]],
      [`${layer}.self_attn.q_norm.weight`, [width]],
      [`${layer}.self_attn.k_norm.weight`, [width]],
      [`${layer}.mlp.gate_proj.weight`, [inner, hidden]],
      [`${layer}.mlp.up_proj.weight`, [inner, hidden]],
      [`${layer}.mlp.down_proj.weight`, [hidden, inner]],
    ];
  });
  return [
    ['model.embed_tokens.weight', [shape.vocab_size, hidden]],
    ['model.norm.weight', [hidden]],
    ...layers.flat(),
  ];
}

const sizeOf = (dims: readonly number[]): number => dims.reduce((product, dim) => product * dim, 1);

/** Writes the checkpoint once; returns its folder. */
async function makeCheckpoint(): Promise<string> {
  const folder = path.join(benchFolder, 'random-0.6b');
  if (existsSync(path.join(folder, 'config.json'))) return folder;
  await mkdir(folder, { recursive: true });
  const header: Record<string, unknown> = {};
  let offset = 0;
  for (const [name, dims] of tensorShapes()) {
    header[name] = { dtype: 'BF16', shape: dims, data_offsets: [offset, (offset += sizeOf(dims) * 2)] };
  }
  const json = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(json.length));
  const file = await open(path.join(folder, 'model.safetensors'), 'w');
  await file.writeFile(Buffer.concat([length, json]));
  const random = randomWords();
  for (const [, dims] of tensorShapes()) await writeTensor(file, dims, random);
  await file.close();
  const tokenizer = bundledModel('nano-chat');
  for (const name of ['tokenizer.json', 'tokenizer_config.json'])
    await copyFile(path.join(tokenizer, name), path.join(folder, name));
  await writeFile(path.join(folder, 'config.json'), JSON.stringify(shape));
  return folder;
}

/**
 * Repeated random numbers for all matrices. Each matrix starts at another offset, since ONNX Runtime stores equal
 * matrices once.
 */
const randomNumbers = 1_000_003;
const spread = 1 / 16;

function randomWords(): Uint16Array {
  const values = new Float32Array(randomNumbers);
  let state = 1;
  for (let i = 0; i < randomNumbers; i++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    values[i] = (state / 2 ** 31 - 1) * spread;
  }
  return Uint16Array.from(new Uint32Array(values.buffer), (bits) => bits >>> 16);
}

let nextNumber = 0;

/** Random matrices, norms of 1. */
async function writeTensor(file: FileHandle, dims: readonly number[], random: Uint16Array): Promise<void> {
  const words = new Uint16Array(sizeOf(dims));
  if (dims.length === 1) words.fill(0x3f80);
  else
    for (let filled = 0; filled < words.length;) {
      const part = random.subarray(nextNumber, nextNumber + words.length - filled);
      words.set(part, filled);
      filled += part.length;
      nextNumber = (nextNumber + part.length) % random.length;
    }
  await file.writeFile(new Uint8Array(words.buffer));
}

interface Footprint {
  readonly residentMiB: number;
  readonly peakMiB: number;
  readonly seconds: number;
  /** Processor time until the model is loaded. */
  readonly cpuSeconds: number;
}

/** In a process of its own: loads the model, answers, and prints the present and the peak memory of the process. */
async function measureHere(folder: string, weights: WeightPrecision): Promise<Footprint> {
  const startedAt = performance.now();
  const generator = await loadGenerator(folder, { cacheDirectory: benchFolder, engine: 'compiled', weights });
  const seconds = (performance.now() - startedAt) / 1000;
  const { user, system } = process.cpuUsage();
  const cpuSeconds = (user + system) / 1e6;
  const parameters = { max_tokens: 16, ignore_eos: true, temperature: 0 };
  const events = generator.generate({ messages: digits(64, 1), parameters });
  while (!(await events.next()).done);
  const status = await readFile('/proc/self/status', 'utf8');
  const mebibytes = (field: string) => Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1]) / 1024;
  await generator.close();
  return { residentMiB: mebibytes('VmRSS'), peakMiB: mebibytes('VmHWM'), seconds, cpuSeconds };
}

async function measureApart(folder: string, weights: WeightPrecision): Promise<Footprint> {
  const child = spawn(process.execPath, [builtFile('bench'), 'footprint'], {
    env: { ...process.env, [childVariable]: JSON.stringify({ folder, weights }) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  for await (const part of child.stdout) output += String(part);
  const line = output.split('\n').find((text) => text.startsWith(marker));
  if (!line) throw new Error(`The measuring process wrote: ${output}`);
  return JSON.parse(line.slice(marker.length)) as Footprint;
}

/** Environment variable with the task of a measuring process. */
const childVariable = 'BENCH_FOOTPRINT';
const marker = 'footprint ';
const billions = 0.596;

/** The first start of a model and a later one. */
type Starts = readonly [first: Footprint, later: Footprint];

/** Returns the round with the median cost of the compilation. */
function medianOf(rounds: readonly Starts[]): Starts {
  const cost = ([first, later]: Starts) => first.cpuSeconds - later.cpuSeconds;
  const sorted = rounds.toSorted((a, b) => cost(a) - cost(b));
  return sorted[sorted.length >> 1]!;
}

const forms: readonly WeightPrecision[] = ['int8', 'int4'];

export const subject: Subject = {
  async run({ rounds }) {
    const task = process.env[childVariable];
    if (task) {
      const { folder, weights } = JSON.parse(task) as { folder: string; weights: WeightPrecision };
      return `${marker}${JSON.stringify(await measureHere(folder, weights))}`;
    }
    const folder = await makeCheckpoint();
    const rows: string[][] = [];
    for (const weights of forms) {
      const starts: Starts[] = [];
      for (let round = 0; round < rounds; round++) {
        await rm(path.join(benchFolder, 'compiled'), { recursive: true, force: true });
        starts.push([await measureApart(folder, weights), await measureApart(folder, weights)]);
      }
      const [first, later] = medianOf(starts);
      const cells = [first, later].flatMap(({ residentMiB, peakMiB, seconds }) => [
        residentMiB.toFixed(0),
        peakMiB.toFixed(0),
        seconds.toFixed(1),
      ]);
      rows.push([
        weights,
        ...cells,
        (first.peakMiB / later.residentMiB).toFixed(2),
        ((first.cpuSeconds - later.cpuSeconds) / billions).toFixed(1),
      ]);
    }
    const head = [
      '',
      'MiB after an answer',
      'peak',
      'seconds to load',
      'later start: MiB',
      'peak',
      'seconds',
      'first peak ÷ MiB of a later start',
      'compilation, processor seconds a billion weights',
    ];
    return `## Memory of a 0.6 B model\n\n${introduction}\n\n${table(head, rows)}`;
  },
};

const introduction = `Qwen3-0.6B's shape, 596 M random weights in bfloat16; the process of the engine alone. The first start compiles the
checkpoint, a later one finds the graph. Memory is resident memory (VmRSS, VmHWM), with the pages of files that are mapped. Of
several rounds the one with the median compilation is shown.`;
