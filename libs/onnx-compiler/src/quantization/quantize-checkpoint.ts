import { mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { quantizeRows } from './quantize.js';
import { SafetensorsReader } from '../checkpoint/safetensors.js';

/** Smaller matrices stay float32, because int8 saves too little. */
const minQuantizedValues = 65_536;

interface Part {
  readonly name: string;
  readonly dtype: 'I8' | 'F32';
  readonly shape: readonly number[];
  readonly bytes: Uint8Array;
}

/**
 * Writes the `model.safetensors` of a model directory into another directory: large matrices as int8 with one
 * float32 scale per row (`<name>_scale`, `[rows, 1]`), other tensors as float32. The file has half the size of
 * float16, and the int8 values are exactly those that the compiler makes. Errors: UnsupportedModelError if there is
 * not a safetensors file.
 */
export async function quantizeCheckpoint(modelDirectory: string, targetDirectory: string): Promise<void> {
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
  if (shape.length !== 2 || values.length < minQuantizedValues)
    return [{ name, dtype: 'F32', shape, bytes: new Uint8Array(values.buffer) }];
  const quantized = quantizeRows(values, rows, columns);
  return [
    { name, dtype: 'I8', shape, bytes: new Uint8Array(quantized.values.buffer) },
    { name: `${name}_scale`, dtype: 'F32', shape: [rows, 1], bytes: new Uint8Array(quantized.scales.buffer) },
  ];
}

/** Writes header and tensors; spaces pad the header, so that the tensors start at a multiple of eight. */
async function writeSafetensors(path: string, unordered: readonly Part[]): Promise<void> {
  // Float32 comes before int8, so that every tensor starts at a multiple of its element size.
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
