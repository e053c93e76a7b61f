import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const patternLength = 1 << 20;

/**
 * Writes safetensors of small random weights in bfloat16, tensor by tensor, so that models of any size can be made. Names
 * that end in `norm.weight` are near one.
 */
export async function writeRandomCheckpoint(
  directory: string,
  shapes: Readonly<Record<string, readonly number[]>>,
  shards = 1,
): Promise<void> {
  await mkdir(directory, { recursive: true });
  const names = Object.keys(shapes);
  const weightMap: Record<string, string> = {};
  for (let shard = 0; shard < shards; shard += 1) {
    const place = `${String(shard + 1).padStart(5, '0')}-of-${String(shards).padStart(5, '0')}`;
    const file = shards === 1 ? 'model.safetensors' : `model-${place}.safetensors`;
    const members = names.filter((_name, index) => index % shards === shard);
    for (const name of members) weightMap[name] = file;
    await writeShard(
      join(directory, file),
      members.map((name) => [name, shapes[name] ?? []] as const),
    );
  }
  if (shards === 1) return;
  const index = { metadata: {}, weight_map: weightMap };
  await writeFile(join(directory, 'model.safetensors.index.json'), JSON.stringify(index));
}

async function writeShard(
  path: string,
  members: readonly (readonly [name: string, shape: readonly number[]])[],
): Promise<void> {
  let offset = 0;
  const header: Record<string, unknown> = { __metadata__: { format: 'pt' } };
  for (const [name, shape] of members) {
    const bytes = 2 * sizeOf(shape);
    header[name] = { dtype: 'BF16', shape, data_offsets: [offset, offset + bytes] };
    offset += bytes;
  }
  const json = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(json.length));
  const stream = createWriteStream(path);
  stream.write(length);
  stream.write(json);
  for (const [name, shape] of members) {
    // The spread that keeps the states of a deep network in bounds.
    const spread = /norm\.weight$/i.test(name) || shape.length === 1 ? 0.1 : 1 / Math.sqrt(shape.at(-1) ?? 1);
    const pattern = randomBfloats(/norm\.weight$/i.test(name) ? 1 : 0, spread);
    for (let left = 2 * sizeOf(shape); left > 0; left -= pattern.length)
      if (!stream.write(pattern.subarray(0, Math.min(left, pattern.length)))) await once(stream, 'drain');
  }
  stream.end();
  await once(stream, 'finish');
}

function sizeOf(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}

/** The upper halves of floats around `mean`; the same run of them fills a large tensor, from an odd length on so that rows differ. */
function randomBfloats(mean: number, spread: number): Uint8Array {
  const floats = Float32Array.from(
    { length: patternLength - 1 },
    () => mean + spread * (2 * Math.random() - 1),
  );
  const halves = new Uint16Array(floats.length);
  const words = new Uint32Array(floats.buffer);
  for (let index = 0; index < halves.length; index += 1) halves[index] = words[index]! >>> 16;
  return new Uint8Array(halves.buffer);
}
