import { readFileSync } from 'node:fs';
import { builtFile } from '#platform/foundation';
import { compileModule, GrowingMemory, instantiate } from '#engine/webassembly';

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

/** Areas begin at multiples of this, and have as much behind their end, which kernels may write. */
const alignment = 64;

/** The kernels and their memory, which each computation uses anew, without an interruption. */
export class WeightKernels extends GrowingMemory {
  readonly run: Kernels;

  constructor() {
    super();
    const module = compileModule(readFileSync(builtFile('weight-kernels.wasm')));
    this.run = instantiate(module, this.memory) as Kernels;
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
    this.growTo(end);
    return addresses as { [Index in keyof Sizes]: number };
  }

  integersOf32(address: number, count: number): Int32Array {
    return new Int32Array(this.buffer, address, count);
  }

  doubles(address: number, count: number): Float64Array {
    return new Float64Array(this.buffer, address, count);
  }
}

let loaded: WeightKernels | undefined;

/** The kernels of this thread, loaded when they are first needed. */
export function weightKernels(): WeightKernels {
  loaded ??= new WeightKernels();
  return loaded;
}
