import { join } from 'node:path';
import { expect, it } from 'vitest';
import { projectRoot } from '#paths';
import { SafetensorsReader } from './safetensors.js';
import { matrix, readPieces, stack } from './weights.js';

it('reads a matrix of int8 weights in pieces of rows, or as a whole where it has several parts', async () => {
  const reader = await SafetensorsReader.open(join(projectRoot, 'models', 'nano-chat'));
  const table = matrix(reader, 'model.embed_tokens.weight');
  const whole = await table.read();
  const firsts: number[] = [];
  const joined = new Float32Array(whole.length);
  for await (const { first, count, values } of readPieces(table, 1000 * table.columns)) {
    expect(values).toHaveLength(count * table.columns);
    firsts.push(first);
    joined.set(values, first * table.columns);
  }
  expect(firsts).toEqual(firsts.map((_first, index) => index * 1000));
  expect(firsts.length).toBeGreaterThan(2);
  expect(Buffer.from(joined.buffer).equals(Buffer.from(whole.buffer))).toBe(true);
  const pieces = [];
  for await (const piece of readPieces(stack('twice', [table, table]), 1000)) pieces.push(piece);
  expect(pieces).toHaveLength(1);
  expect(pieces[0]!.values).toHaveLength(2 * whole.length);
  await reader.close();
});
