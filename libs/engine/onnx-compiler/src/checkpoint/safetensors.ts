import { open, readFile, type FileHandle } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { UnsupportedModelError } from '../config-file.js';
import { isFloatType, storedFloats, type StoredValues, toFloats } from '../kernels/stored-values.js';

const entrySchema = z.object({
  dtype: z.string(),
  shape: z.array(z.int().nonnegative()),
  data_offsets: z.tuple([z.int().nonnegative(), z.int().nonnegative()]),
});
const headerSchema = z.record(z.string(), z.union([entrySchema, z.record(z.string(), z.string())]));
const indexSchema = z.object({ weight_map: z.record(z.string(), z.string()) });

/** The format's own limit; a longer header means a damaged file. */
const maxHeaderBytes = 100_000_000;
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

/** Rows `first` to `first + count − 1` of a tensor. */
export interface RowRange {
  readonly first: number;
  readonly count: number;
}

interface StoredTensor {
  readonly file: string;
  readonly dtype: string;
  readonly shape: readonly number[];
  /** Byte offset in the file. */
  readonly offset: number;
  readonly bytes: number;
}

/**
 * Lists the safetensors files of a model directory: `model.safetensors`, or the shards in its index. Errors:
 * UnsupportedModelError if there is not any.
 */
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
 * Reads the tensors of a model directory one at a time; only the headers stay in memory. It records which names
 * were read, so that a compiler can refuse a checkpoint with unknown tensors.
 */
export class SafetensorsReader {
  private readonly used = new Set<string>();
  private readonly spare: Uint8Array<ArrayBuffer>[] = [];

  private constructor(
    private readonly modelDirectory: string,
    private readonly tensors: ReadonlyMap<string, StoredTensor>,
    private readonly handles: ReadonlyMap<string, FileHandle>,
  ) {}

  /**
   * Opens the files. `nameOf`: the name under which a stored tensor is known. Errors: UnsupportedModelError if there is
   * not a safetensors file, Error if a file is damaged.
   */
  static async open(
    modelDirectory: string,
    nameOf: (stored: string) => string = (stored) => stored,
  ): Promise<SafetensorsReader> {
    const tensors = new Map<string, StoredTensor>();
    const handles = new Map<string, FileHandle>();
    try {
      for (const file of await listWeightFiles(modelDirectory)) {
        const handle = await open(file, 'r');
        handles.set(file, handle);
        for (const [stored, tensor] of await readHeader(file, handle)) tensors.set(nameOf(stored), tensor);
      }
    } catch (error) {
      await Promise.all([...handles.values()].map((handle) => handle.close()));
      throw error;
    }
    return new SafetensorsReader(modelDirectory, tensors, handles);
  }

  /** Names of all tensors, without the scales of int8 tensors. */
  names(): string[] {
    return [...this.tensors.keys()].filter(
      (name) => !(name.endsWith('_scale') && this.isQuantized(name.slice(0, -'_scale'.length))),
    );
  }

  /** Number of weights, without the scales of int8 tensors; words of packed weights hold eight. */
  get parameters(): number {
    return this.names().reduce((sum, name) => {
      const { shape } = this.tensors.get(name)!;
      return sum + shape.reduce((product, dim) => product * dim, name.endsWith('.qweight') ? 8 : 1);
    }, 0);
  }

  has(name: string): boolean {
    return this.tensors.has(name);
  }

  /** Returns the dimensions of a tensor. Errors: UnsupportedModelError if the checkpoint lacks it. */
  shape(name: string): readonly number[] {
    return this.find(name).shape;
  }

  /**
   * Reads a tensor as float32. It may be stored as a 16- or 32-bit float, or as int8 with a scale per row (or per
   * equal group of a row) in the tensor `<name>_scale`. `rows`: a part of it, along the first dimension.
   */
  async readFloat32(name: string, rows?: RowRange): Promise<Float32Array> {
    return toFloats(await this.readStored(name, rows));
  }

  /** Reads a tensor as {@link readFloat32}, in the type that the file has; int8 as floats. `memory`: for the bytes. */
  async readStored(name: string, rows?: RowRange, memory?: Uint8Array<ArrayBuffer>): Promise<StoredValues> {
    const tensor = partOf(this.find(name), rows);
    const { dtype } = tensor;
    const bytes = await this.readBytes(tensor, memory?.subarray(0, tensor.bytes));
    if (isFloatType(dtype)) return { type: dtype, bytes };
    if (dtype !== 'I8' || !this.has(`${name}_scale`))
      throw new UnsupportedModelError(`the type ${dtype} of tensor ${name}`, this.modelDirectory);
    const scales = await this.readFloat32(`${name}_scale`, rows);
    return storedFloats(dequantize(new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length), scales));
  }

  /** Returns memory for rows of a tensor. It is used again after {@link giveBack}, since allocating takes as long as reading. */
  borrow(name: string, rows: number): Uint8Array<ArrayBuffer> {
    const { bytes } = partOf(this.find(name), { first: 0, count: rows });
    const spare = this.spare.pop();
    return spare && spare.length >= bytes ? spare : new Uint8Array(bytes);
  }

  giveBack(memory: Uint8Array<ArrayBuffer>): void {
    this.spare.push(memory);
  }

  /** Reads a tensor of 32-bit integers. Errors: UnsupportedModelError for another type. */
  async readInt32(name: string): Promise<Int32Array> {
    const tensor = this.find(name);
    if (tensor.dtype !== 'I32')
      throw new UnsupportedModelError(`the type ${tensor.dtype} of tensor ${name}`, this.modelDirectory);
    return new Int32Array((await this.readBytes(tensor)).buffer);
  }

  /** Names of the tensors that were not read and that `isIgnorable` does not accept. */
  unusedNames(isIgnorable: (name: string) => boolean): string[] {
    return [...this.tensors.keys()].filter((name) => !this.used.has(name) && !isIgnorable(name));
  }

  async close(): Promise<void> {
    await Promise.all([...this.handles.values()].map((handle) => handle.close()));
  }

  /** Returns true if a tensor is stored as int8 with scales. */
  isQuantized(name: string): boolean {
    return this.tensors.get(name)?.dtype === 'I8';
  }

  private find(name: string): StoredTensor {
    const tensor = this.tensors.get(name);
    if (!tensor) throw new UnsupportedModelError(`a checkpoint without tensor ${name}`, this.modelDirectory);
    this.used.add(name);
    if (tensor.dtype === 'I8') this.used.add(`${name}_scale`);
    return tensor;
  }

  private async readBytes(
    tensor: StoredTensor,
    bytes = new Uint8Array(tensor.bytes),
  ): Promise<Uint8Array<ArrayBuffer>> {
    await readFully(this.handles.get(tensor.file)!, bytes, tensor.offset, tensor.file);
    return bytes;
  }
}

/** Returns the location of some rows of a tensor. */
function partOf(tensor: StoredTensor, rows: RowRange | undefined): StoredTensor {
  if (!rows) return tensor;
  const rowBytes = tensor.bytes / (tensor.shape[0] ?? 1);
  return { ...tensor, offset: tensor.offset + rows.first * rowBytes, bytes: rows.count * rowBytes };
}

/** Each scale belongs to an equal run of values. */
function dequantize(quantized: Int8Array, scales: Float32Array): Float32Array {
  const values = new Float32Array(quantized.length);
  const run = values.length / scales.length;
  for (const [group, scale] of scales.entries())
    for (let i = group * run; i < (group + 1) * run; i++) values[i] = quantized[i]! * scale;
  return values;
}

async function readHeader(file: string, handle: FileHandle): Promise<[string, StoredTensor][]> {
  const prefix = new Uint8Array(8);
  await readFully(handle, prefix, 0, file);
  const length = Number(new DataView(prefix.buffer).getBigUint64(0, true));
  const { size } = await handle.stat();
  if (length > maxHeaderBytes || length + 8 > size) throw new Error(`${file} is not a safetensors file.`);
  const json = new Uint8Array(length);
  await readFully(handle, json, 8, file);
  const header = headerSchema.parse(JSON.parse(new TextDecoder().decode(json)));
  const tensors: [string, StoredTensor][] = [];
  let end = 8 + length;
  for (const [name, value] of Object.entries(header)) {
    const entry = entrySchema.safeParse(value);
    if (name === '__metadata__' || !entry.success) continue;
    tensors.push([name, toStoredTensor(file, name, entry.data, 8 + length)]);
    end = Math.max(end, 8 + length + entry.data.data_offsets[1]);
  }
  if (end !== size)
    throw new Error(`${file} is damaged: it has ${size} bytes, and its header describes ${end}.`);
  return tensors;
}

function toStoredTensor(
  file: string,
  name: string,
  entry: z.infer<typeof entrySchema>,
  dataStart: number,
): StoredTensor {
  const [start, end] = entry.data_offsets;
  const elements = entry.shape.reduce((product, dim) => product * dim, 1);
  const expected = elements * (dtypeBytes[entry.dtype] ?? Number.NaN);
  if (expected !== end - start)
    throw new Error(`${file} is damaged: the size or the offset of tensor ${name} is wrong.`);
  return {
    file,
    dtype: entry.dtype,
    shape: entry.shape,
    offset: dataStart + start,
    bytes: end - start,
  };
}

/** Maximum bytes of one read; the operating system refuses more than 2 GiB. */
const readChunk = 1 << 28;

async function readFully(handle: FileHandle, into: Uint8Array, offset: number, file: string): Promise<void> {
  for (let done = 0; done < into.length;) {
    const length = Math.min(readChunk, into.length - done);
    const { bytesRead } = await handle.read(into, done, length, offset + done);
    if (bytesRead === 0) throw new Error(`${file} is truncated.`);
    done += bytesRead;
  }
}

/**
 * Opens a checkpoint, builds a graph from it and writes the graph. `isIgnorable` accepts tensors that the graph
 * does not need. `nameOf`: see {@link SafetensorsReader.open}. Errors: UnsupportedModelError if another tensor was not
 * read, because the architecture is then a different one.
 */
export async function withCheckpoint(
  modelDirectory: string,
  build: (reader: SafetensorsReader) => {
    isIgnorable: (name: string) => boolean;
    write: () => Promise<unknown>;
  },
  nameOf?: (stored: string) => string,
): Promise<void> {
  const reader = await SafetensorsReader.open(modelDirectory, nameOf);
  try {
    const { isIgnorable, write } = build(reader);
    const [unknown] = reader.unusedNames(isIgnorable);
    if (unknown) throw new UnsupportedModelError(`tensor ${unknown}`, modelDirectory);
    await write();
  } finally {
    await reader.close();
  }
}

/** Reads all tensors of a small checkpoint, by name. Errors: see {@link SafetensorsReader.open}. */
export async function readTensors(modelDirectory: string): Promise<Map<string, Float32Array>> {
  const reader = await SafetensorsReader.open(modelDirectory);
  try {
    const tensors = new Map<string, Float32Array>();
    for (const name of reader.names()) tensors.set(name, await reader.readFloat32(name));
    return tensors;
  } finally {
    await reader.close();
  }
}

/** True if the matrices of a checkpoint are int8 with one scale a row, from its headers. Errors: see {@link SafetensorsReader.open}. */
export async function hasRowScales(modelDirectory: string): Promise<boolean> {
  const reader = await SafetensorsReader.open(modelDirectory);
  const isByRow = (name: string) => reader.isQuantized(name) && reader.shape(`${name}_scale`).at(-1) === 1;
  const found = reader.names().some(isByRow);
  await reader.close();
  return found;
}

/** Number of weights of a checkpoint, from its headers. Errors: see {@link SafetensorsReader.open}. */
export async function countParameters(modelDirectory: string): Promise<number> {
  const reader = await SafetensorsReader.open(modelDirectory);
  const { parameters } = reader;
  await reader.close();
  return parameters;
}
