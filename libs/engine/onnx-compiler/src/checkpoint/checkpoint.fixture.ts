import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A tensor of a generated checkpoint. */
export interface FixtureTensor {
  readonly shape: readonly number[];
  readonly values: Float32Array;
  /** A reference rounds the input of this matrix to int8 in blocks of this many values. */
  readonly inputBlock?: number;
  /** `I32`: the bytes of `values` are integers. */
  readonly dtype?: 'I32';
}
export type FixtureTensors = Readonly<Record<string, FixtureTensor>>;

/** Returns a source of pseudo-random numbers in −1…1, the same in every run. */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 31 - 1;
  };
}

/** Random tensors: matrices of the given spread, vectors near `vectorMean` so that norms stay away from zero. */
export function randomTensors(shapes: Readonly<Record<string, readonly number[]>>, seed = 1): FixtureTensors {
  const random = randomNumbers(seed);
  const tensors: Record<string, FixtureTensor> = {};
  for (const [name, shape] of Object.entries(shapes)) {
    const size = shape.reduce((product, dim) => product * dim, 1);
    const isNorm = /norm\.weight$/i.test(name);
    const spread = shape.length === 1 ? 0.3 : 2 / Math.sqrt(shape.at(-1)!);
    const values = Float32Array.from({ length: size }, () => (isNorm ? 1 : 0) + spread * random());
    tensors[name] = { shape, values };
  }
  return tensors;
}

/** Writes config.json and float32 safetensors in `shards` shards. */
export async function writeCheckpoint(
  directory: string,
  config: object,
  tensors: FixtureTensors,
  shards = 1,
): Promise<void> {
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, 'config.json'), JSON.stringify(config));
  const entries = Object.entries(tensors);
  const weightMap: Record<string, string> = {};
  for (let shard = 0; shard < shards; shard++) {
    const file = shards === 1 ? 'model.safetensors' : `model-${shard + 1}-of-${shards}.safetensors`;
    const members = entries.filter((_, index) => index % shards === shard);
    for (const [name] of members) weightMap[name] = file;
    await writeFile(join(directory, file), encodeSafetensors(members));
  }
  if (shards > 1)
    await writeFile(
      join(directory, 'model.safetensors.index.json'),
      JSON.stringify({ metadata: {}, weight_map: weightMap }),
    );
}

function encodeSafetensors(entries: readonly (readonly [string, FixtureTensor])[]): Buffer {
  const header: Record<string, unknown> = { __metadata__: { format: 'pt' } };
  let offset = 0;
  for (const [name, { shape, values, dtype = 'F32' }] of entries) {
    header[name] = { dtype, shape, data_offsets: [offset, offset + values.byteLength] };
    offset += values.byteLength;
  }
  const json = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(json.length));
  return Buffer.concat([length, json, ...entries.map(([, { values }]) => Buffer.from(values.buffer))]);
}
