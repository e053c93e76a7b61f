import { readFile } from 'node:fs/promises';
import { builtFile } from '#paths';

/** The functions of decoder-kernels.wasm.ts, which documents them. Addresses are bytes in the module's memory. */
export interface DecoderKernels {
  quantizeRow(input: number, output: number, count: number, levels: number): number;
  multiply(
    weights: number,
    scales: number,
    vector: number,
    factor: number,
    output: number,
    rows: number,
    columns: number,
    stride: number,
  ): void;
  pack(
    source: number,
    target: number,
    first: number,
    columns: number,
    rows: number,
    sourceStride: number,
    stride: number,
    flip: number,
  ): void;
  normalize(input: number, weight: number, output: number, count: number, epsilon: number): void;
  addScaled(target: number, source: number, factor: number, count: number): void;
  rotate(heads: number, count: number, width: number, cosines: number, sines: number): void;
  gateSilu(gate: number, up: number, output: number, count: number): void;
  gateGelu(gate: number, up: number, output: number, count: number): void;
  attendIntegers(
    query: number,
    keys: number,
    keyScales: number,
    values: number,
    valueScales: number,
    ones: number,
    scratch: number,
    output: number,
    first: number,
    count: number,
    capacity: number,
    width: number,
    factor: number,
  ): void;
  attendFloats(
    query: number,
    keys: number,
    values: number,
    scratch: number,
    output: number,
    first: number,
    count: number,
    width: number,
    factor: number,
  ): void;
  quantizeHead(input: number, output: number, width: number): number;
  putKey(key: number, keys: number, position: number, width: number): void;
  putValue(value: number, values: number, position: number, width: number, capacity: number): void;
}

/** The part of the WebAssembly interface that is used here; Node's types lack it. */
declare namespace WebAssembly {
  class Memory {
    constructor(limits: { initial: number });
    readonly buffer: ArrayBuffer;
    grow(pages: number): number;
  }
  function instantiate(
    code: Uint8Array,
    imports: Readonly<Record<string, Readonly<Record<string, Memory>>>>,
  ): Promise<{ instance: { exports: unknown } }>;
}

const pageBytes = 65_536;
/** Vectors begin at multiples of this, the size of a cache line. */
const alignment = 64;

/**
 * The kernels and their memory. The memory only grows, so that addresses stay valid; views have to be taken again after
 * growth.
 */
export class KernelMemory {
  private used = alignment;
  private everything: Float32Array;

  private constructor(
    private readonly memory: WebAssembly.Memory,
    readonly kernels: DecoderKernels,
  ) {
    this.everything = new Float32Array(memory.buffer);
  }

  /** Loads the kernels over a new memory. */
  static async create(): Promise<KernelMemory> {
    const memory = new WebAssembly.Memory({ initial: 1 });
    const code = await readFile(builtFile('decoder-kernels.wasm'));
    const { instance } = await WebAssembly.instantiate(code, { env: { memory } });
    return new KernelMemory(memory, instance.exports as DecoderKernels);
  }

  /** Returns the address of new memory, filled with zeros. Throws RangeError if the memory would exceed 4 GiB. */
  allocate(bytes: number): number {
    const address = this.used;
    this.used += Math.ceil(bytes / alignment) * alignment;
    const missing = this.used - this.memory.buffer.byteLength;
    if (missing > 0) this.memory.grow(Math.ceil(missing / pageBytes));
    return address;
  }

  /** Allocates memory for floats and fills it. */
  floatsOf(values: Float32Array): number {
    const address = this.allocate(values.byteLength);
    this.floats(address, values.length).set(values);
    return address;
  }

  /** The whole memory as floats: the float at an address has a quarter of it as its index. */
  get allFloats(): Float32Array {
    if (this.everything.buffer !== this.memory.buffer) this.everything = new Float32Array(this.memory.buffer);
    return this.everything;
  }

  floats(address: number, count: number): Float32Array {
    return new Float32Array(this.memory.buffer, address, count);
  }

  integers(address: number, count: number): Int8Array {
    return new Int8Array(this.memory.buffer, address, count);
  }

  bytesAt(address: number, count: number): Uint8Array {
    return new Uint8Array(this.memory.buffer, address, count);
  }
}
