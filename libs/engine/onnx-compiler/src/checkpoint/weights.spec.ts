import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { projectRoot } from '#platform/foundation';
import { toFloats } from '../kernels/stored-values.js';
import type { Matrix } from './matrix.js';
import { SafetensorsReader } from './safetensors.js';
import { matrix, readPieces, stack } from './weights.js';

/** Reads a matrix in pieces of `rowsAtOnce` rows, and puts them together again. */
async function readJoined(source: Matrix, rowsAtOnce: number) {
  const firsts: number[] = [];
  const joined = new Float32Array(source.rows * source.columns);
  for await (const { first, count, values } of readPieces(source, rowsAtOnce * source.columns)) {
    const floats = toFloats(values);
    expect(floats).toHaveLength(count * source.columns);
    firsts.push(first);
    joined.set(floats, first * source.columns);
  }
  return { firsts, bytes: Buffer.from(joined.buffer) };
}

it('reads matrices of int8 weights, alone and stacked, in pieces of rows', async () => {
  const reader = await SafetensorsReader.open(join(projectRoot, 'models', 'nano-chat'));
  const table = matrix(reader, 'model.embed_tokens.weight');
  const starts = Array.from({ length: Math.ceil(table.rows / 1000) }, (_unused, index) => index * 1000);
  expect(starts.length).toBeGreaterThan(2);
  const again = starts.map((start) => table.rows + start);
  for (const [source, expected] of [
    [table, starts],
    [stack('twice', [table, table]), [...starts, ...again]],
  ] as const) {
    const { firsts, bytes } = await readJoined(source, 1000);
    expect(firsts).toEqual(expected);
    expect(bytes.equals(Buffer.from((await source.read()).buffer))).toBe(true);
  }
  await reader.close();
});

it('reads bfloat16 rows into memory that is used again', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'meganest-rows-'));
  const words = Uint16Array.from({ length: 24 }, (_unused, index) => 0x3f80 + 7 * index);
  const header = JSON.stringify({ table: { dtype: 'BF16', shape: [6, 4], data_offsets: [0, 48] } });
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  const file = Buffer.concat([length, Buffer.from(header), new Uint8Array(words.buffer)]);
  await writeFile(join(folder, 'model.safetensors'), file);
  const reader = await SafetensorsReader.open(folder);
  const table = matrix(reader, 'table');
  const exact = Buffer.from((await table.read()).buffer);
  expect((await readJoined(table, 4)).bytes.equals(exact)).toBe(true);
  expect(
    (await readJoined(stack('twice', [table, table]), 5)).bytes.equals(Buffer.concat([exact, exact])),
  ).toBe(true);
  await reader.close();
  await rm(folder, { recursive: true, force: true });
});
