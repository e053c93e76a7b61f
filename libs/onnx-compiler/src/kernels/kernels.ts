import { readFileSync } from 'node:fs';
import { builtFile } from '#paths';

/** The functions of wasm/weight-kernels.ts, which documents them. Addresses are bytes in the module's memory. */
interface Kernels {
  widenBfloat16(source: number, target: number, count: number): void;
  widenHalf(source: number, target: number, count: number): void;
  quantizeRows(
    values: number,
    rows: number,
    columns: number,
    output: number,
    stride: number,
    scales: number,
  ): void;
  quantizeBlocks(
    values: number,
    rows: number,
    columns: number,
    block: number,
    bits: number,
    output: number,
    scales: number,
    zeroPoints: number,
    search: number,
  ): void;
  transposeBytes(
    source: number,
    rows: number,
    columns: number,
    sourceStride: number,
    target: number,
    targetStride: number,
  ): void;
}

interface Memory {
  readonly buffer: SharedArrayBuffer;
  grow(pages: number): number;
}

/** Node has it, but the loaded type libraries do not declare it. */
declare const WebAssembly: {
  Module: new (code: Uint8Array) => object;
  Memory: new (limits: { initial: number; maximum: number; shared: true }) => Memory;
  Instance: new (module: object, imports: { env: { memory: Memory } }) => { exports: unknown };
};

const pageBytes = 65_536;
/** The limit in tools/build.mjs: 4 GiB. */
const maxPages = 65_536;
/** Areas begin at multiples of this, and have as much behind their end, which kernels may write. */
const alignment = 64;

/** The kernels and their memory, which each computation uses anew, without an interruption. */
export class WeightKernels {
  readonly run: Kernels;
  private readonly memory: Memory;

  constructor() {
    this.memory = new WebAssembly.Memory({ initial: 1, maximum: maxPages, shared: true });
    const module = new WebAssembly.Module(readFileSync(builtFile('weight-kernels.wasm')));
    this.run = new WebAssembly.Instance(module, { env: { memory: this.memory } }).exports as Kernels;
  }

  /**
   * Returns the addresses of areas of the given sizes, in bytes. Their contents are arbitrary. The next call gives the same
   * memory to others.
   */
  reserve<const Sizes extends readonly number[]>(sizes: Sizes): { [Index in keyof Sizes]: number } {
    let end = alignment;
    const addresses = sizes.map((size) => {
      const address = end;
      end += (Math.ceil(size / alignment) + 1) * alignment;
      return address;
    });
    const missing = end - this.memory.buffer.byteLength;
    if (missing > 0) this.memory.grow(Math.ceil(missing / pageBytes));
    return addresses as { [Index in keyof Sizes]: number };
  }

  bytes(address: number, count: number): Uint8Array {
    return new Uint8Array(this.memory.buffer, address, count);
  }

  integers(address: number, count: number): Int8Array {
    return new Int8Array(this.memory.buffer, address, count);
  }

  integersOf32(address: number, count: number): Int32Array {
    return new Int32Array(this.memory.buffer, address, count);
  }

  floats(address: number, count: number): Float32Array {
    return new Float32Array(this.memory.buffer, address, count);
  }

  doubles(address: number, count: number): Float64Array {
    return new Float64Array(this.memory.buffer, address, count);
  }
}

let loaded: WeightKernels | undefined;

/** The kernels of this thread, loaded when they are first needed. */
export function weightKernels(): WeightKernels {
  loaded ??= new WeightKernels();
  return loaded;
}
