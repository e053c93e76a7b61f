export interface NamedTensors {
  readonly [name: string]: { readonly shape: readonly number[]; readonly values: Float32Array };
}

/** Zeros of a shape. */
export function zeros(...shape: number[]): { shape: number[]; values: Float32Array } {
  return { shape, values: new Float32Array(shape.reduce((product, size) => product * size, 1)) };
}

/** Float32 tensors in the format of Hugging Face: length of the header, header, values. */
export function safetensors(named: NamedTensors): Uint8Array {
  let place = 0;
  const header = Object.fromEntries(
    Object.entries(named).map(([name, { shape, values }]) => {
      const start = place;
      place += values.byteLength;
      return [name, { dtype: 'F32', shape, data_offsets: [start, place] }];
    }),
  );
  const text = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  const values = Object.values(named).map((tensor) => Buffer.from(tensor.values.buffer));
  return Buffer.concat([length, text, ...values]);
}
