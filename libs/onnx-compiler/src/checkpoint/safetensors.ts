import { open, readFile } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { bfloat16ToFloat32, float16ToFloat32 } from '../onnx/float-types.js';
import { UnsupportedModelError } from '../unsupported-model.error.js';

const entrySchema = z.object({
  dtype: z.string(),
  shape: z.array(z.int().nonnegative()),
  data_offsets: z.tuple([z.int().nonnegative(), z.int().nonnegative()]),
});
const headerSchema = z.record(z.string(), z.union([entrySchema, z.record(z.string(), z.string())]));
const indexSchema = z.object({ weight_map: z.record(z.string(), z.string()) });

/** A header of more than this is taken for a damaged file (the format's own limit). */
const largestHeader = 100_000_000;
const dtypeBytes: Record<string, number> = {
  F32: 4,
  F16: 2,
  BF16: 2,
  I8: 1,
  F64: 8,
  I32: 4,
  I64: 8,
  U8: 1,
  BOOL: 1,
};

interface StoredTensor {
  readonly file: string;
  readonly dtype: string;
  readonly shape: readonly number[];
  /** Byte offset in the file. */
  readonly offset: number;
  readonly bytes: number;
}

/** The safetensors files of a model directory: `model.safetensors`, or the shards that its index names. */
export async function listWeightFiles(modelDirectory: string): Promise<string[]> {
  const indexPath = join(modelDirectory, 'model.safetensors.index.json');
  if (existsSync(join(modelDirectory, 'model.safetensors')))
    return [join(modelDirectory, 'model.safetensors')];
  if (!existsSync(indexPath))
    throw new UnsupportedModelError('a model without model.safetensors', modelDirectory);
  const index = indexSchema.parse(JSON.parse(await readFile(indexPath, 'utf8')));
  const shards = [...new Set(Object.values(index.weight_map))].sort();
  if (shards.some((shard) => shard.includes('/') || shard.includes('..')))
    throw new UnsupportedModelError('a shard outside the model directory', modelDirectory);
  return shards.map((shard) => join(modelDirectory, shard));
}

/**
 * The tensors of a model directory, read one at a time: nothing but the headers stays in memory.
 * Remembers which names were asked for, so that a compiler can refuse a checkpoint with tensors it does not understand.
 */
export class SafetensorsReader {
  private readonly used = new Set<string>();

  private constructor(
    private readonly modelDirectory: string,
    private readonly tensors: ReadonlyMap<string, StoredTensor>,
    private readonly handles: ReadonlyMap<string, FileHandle>,
  ) {}

  /** Throws UnsupportedModelError when there is no safetensors file, Error when one is damaged. */
  static async open(modelDirectory: string): Promise<SafetensorsReader> {
    const tensors = new Map<string, StoredTensor>();
    const handles = new Map<string, FileHandle>();
    try {
      for (const file of await listWeightFiles(modelDirectory)) {
        const handle = await open(file, 'r');
        handles.set(file, handle);
        for (const [name, tensor] of await readHeader(file, handle)) tensors.set(name, tensor);
      }
    } catch (error) {
      await Promise.all([...handles.values()].map((handle) => handle.close()));
      throw error;
    }
    return new SafetensorsReader(modelDirectory, tensors, handles);
  }

  /** Names of all tensors, but for the scales of int8 ones. */
  names(): string[] {
    return [...this.tensors.keys()].filter(
      (name) => !(name.endsWith('_scale') && this.isQuantised(name.slice(0, -'_scale'.length))),
    );
  }

  has(name: string): boolean {
    return this.tensors.has(name);
  }

  /** Dimensions of a tensor; throws UnsupportedModelError when the checkpoint lacks it. */
  shape(name: string): readonly number[] {
    return this.find(name).shape;
  }

  /**
   * A tensor as float32, whatever it is stored as: a 16- or 32-bit float, or int8 with a scale for each row (or for each
   * of equal groups of a row) in the tensor `<name>_scale`.
   */
  async readFloat32(name: string): Promise<Float32Array> {
    const tensor = this.find(name);
    const bytes = await this.readBytes(tensor);
    if (tensor.dtype === 'F32') return new Float32Array(bytes.buffer);
    if (tensor.dtype === 'F16') return float16ToFloat32(new Uint16Array(bytes.buffer));
    if (tensor.dtype === 'BF16') return bfloat16ToFloat32(new Uint16Array(bytes.buffer));
    if (tensor.dtype === 'I8' && this.has(`${name}_scale`))
      return dequantise(new Int8Array(bytes.buffer), await this.readFloat32(`${name}_scale`));
    throw new UnsupportedModelError(`the type ${tensor.dtype} of tensor ${name}`, this.modelDirectory);
  }

  /** Names never asked for, less the ones that `isHarmless` accepts. */
  unusedNames(isHarmless: (name: string) => boolean): string[] {
    return [...this.tensors.keys()].filter((name) => !this.used.has(name) && !isHarmless(name));
  }

  async close(): Promise<void> {
    await Promise.all([...this.handles.values()].map((handle) => handle.close()));
  }

  /** Whether a tensor is stored as int8 with scales. */
  isQuantised(name: string): boolean {
    return this.tensors.get(name)?.dtype === 'I8';
  }

  private find(name: string): StoredTensor {
    const tensor = this.tensors.get(name);
    if (!tensor) throw new UnsupportedModelError(`a checkpoint without tensor ${name}`, this.modelDirectory);
    this.used.add(name);
    if (tensor.dtype === 'I8') this.used.add(`${name}_scale`);
    return tensor;
  }

  private async readBytes(tensor: StoredTensor): Promise<Uint8Array<ArrayBuffer>> {
    const bytes = new Uint8Array(tensor.bytes);
    await readFully(this.handles.get(tensor.file)!, bytes, tensor.offset, tensor.file);
    return bytes;
  }
}

/** Each scale belongs to an equal run of values. */
function dequantise(quantised: Int8Array, scales: Float32Array): Float32Array {
  const values = new Float32Array(quantised.length);
  const run = values.length / scales.length;
  for (const [group, scale] of scales.entries())
    for (let i = group * run; i < (group + 1) * run; i++) values[i] = quantised[i]! * scale;
  return values;
}

async function readHeader(file: string, handle: FileHandle): Promise<[string, StoredTensor][]> {
  const prefix = new Uint8Array(8);
  await readFully(handle, prefix, 0, file);
  const length = Number(new DataView(prefix.buffer).getBigUint64(0, true));
  const { size } = await handle.stat();
  if (length > largestHeader || length + 8 > size) throw new Error(`${file} is no safetensors file.`);
  const json = new Uint8Array(length);
  await readFully(handle, json, 8, file);
  const header = headerSchema.parse(JSON.parse(new TextDecoder().decode(json)));
  const tensors: [string, StoredTensor][] = [];
  for (const [name, value] of Object.entries(header)) {
    const entry = entrySchema.safeParse(value);
    if (name === '__metadata__' || !entry.success) continue;
    tensors.push([name, toStoredTensor(file, name, entry.data, { dataStart: 8 + length, fileSize: size })]);
  }
  return tensors;
}

function toStoredTensor(
  file: string,
  name: string,
  entry: z.infer<typeof entrySchema>,
  limits: { dataStart: number; fileSize: number },
): StoredTensor {
  const [start, end] = entry.data_offsets;
  const elements = entry.shape.reduce((product, dim) => product * dim, 1);
  const expected = elements * (dtypeBytes[entry.dtype] ?? Number.NaN);
  if (expected !== end - start || limits.dataStart + end > limits.fileSize)
    throw new Error(`${file} is damaged: tensor ${name} does not fit its place.`);
  return {
    file,
    dtype: entry.dtype,
    shape: entry.shape,
    offset: limits.dataStart + start,
    bytes: end - start,
  };
}

/** Largest single read; the operating system refuses those beyond 2 GiB. */
const readChunk = 1 << 28;

async function readFully(handle: FileHandle, into: Uint8Array, offset: number, file: string): Promise<void> {
  for (let done = 0; done < into.length;) {
    const length = Math.min(readChunk, into.length - done);
    const { bytesRead } = await handle.read(into, done, length, offset + done);
    if (bytesRead === 0) throw new Error(`${file} ends too early.`);
    done += bytesRead;
  }
}
