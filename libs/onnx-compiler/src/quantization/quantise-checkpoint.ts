import { mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { quantiseRows } from './quantise.js';
import { SafetensorsReader } from '../checkpoint/safetensors.js';

/** Matrices below this many values gain nothing from int8. */
const smallestMatrix = 65_536;

interface Part {
  readonly name: string;
  readonly dtype: 'I8' | 'F32';
  readonly shape: readonly number[];
  readonly bytes: Uint8Array;
}

/**
 * Writes `model.safetensors` of a model directory into another, every large matrix as int8 with one float32 scale a row
 * (`<name>_scale`, `[rows, 1]`), the rest as float32. Half the size of float16, and exactly what the compiler would make
 * of the matrix with int8 weights.
 */
export async function quantiseCheckpoint(modelDirectory: string, targetDirectory: string): Promise<void> {
  const reader = await SafetensorsReader.open(modelDirectory);
  try {
    const parts: Part[] = [];
    for (const name of reader.names()) parts.push(...(await convert(reader, name)));
    await mkdir(targetDirectory, { recursive: true });
    await writeSafetensors(join(targetDirectory, 'model.safetensors'), parts);
  } finally {
    await reader.close();
  }
}

async function convert(reader: SafetensorsReader, name: string): Promise<Part[]> {
  const shape = reader.shape(name);
  const values = await reader.readFloat32(name);
  const [rows = 0, columns = 0] = shape;
  if (shape.length !== 2 || values.length < smallestMatrix)
    return [{ name, dtype: 'F32', shape, bytes: new Uint8Array(values.buffer) }];
  const quantised = quantiseRows(values, rows, columns);
  return [
    { name, dtype: 'I8', shape, bytes: new Uint8Array(quantised.values.buffer) },
    { name: `${name}_scale`, dtype: 'F32', shape: [rows, 1], bytes: new Uint8Array(quantised.scales.buffer) },
  ];
}

/** Header and tensors; the header is padded with spaces so that the tensors start at a multiple of eight. */
async function writeSafetensors(path: string, unordered: readonly Part[]): Promise<void> {
  // Float32 sorts before int8, so that every tensor lies at a multiple of its own width.
  const parts = unordered.toSorted((left, right) => left.dtype.localeCompare(right.dtype));
  const header: Record<string, unknown> = { __metadata__: { format: 'pt' } };
  let offset = 0;
  for (const { name, dtype, shape, bytes } of parts) {
    header[name] = { dtype, shape, data_offsets: [offset, offset + bytes.byteLength] };
    offset += bytes.byteLength;
  }
  const json = Buffer.from(JSON.stringify(header));
  const padded = Buffer.concat([json, Buffer.alloc((8 - (json.length % 8)) % 8, ' ')]);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(padded.length));
  const file = await open(path, 'w');
  try {
    for (const piece of [length, padded, ...parts.map(({ bytes }) => bytes)]) await file.writeFile(piece);
  } finally {
    await file.close();
  }
}
