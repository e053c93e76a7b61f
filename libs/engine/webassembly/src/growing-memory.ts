/** A memory of WebAssembly that threads can share. */
export interface SharedMemory {
  readonly buffer: SharedArrayBuffer;
  grow(pages: number): number;
}

/** A compiled module, which threads can share. */
export type WasmModule = object;

/** Node has it, but the loaded type libraries do not declare it. */
declare const WebAssembly: {
  validate(code: Uint8Array): boolean;
  Module: new (code: Uint8Array) => WasmModule;
  Memory: new (limits: { initial: number; maximum: number; shared: true }) => SharedMemory;
  Instance: new (module: WasmModule, imports: { env: { memory: SharedMemory } }) => { exports: unknown };
};

const pageBytes = 65_536;
/** 4 GiB, the most that addresses of 32 bits reach, and the limit in tools/build.mjs. */
const maxPages = 65_536;

/** Returns true if the runtime has the instructions of a module. */
export const isSupported = (code: Uint8Array): boolean => WebAssembly.validate(code);

/** Compiles a module of dist/. Throws if it is not supported. */
export const compileModule = (code: Uint8Array): WasmModule => new WebAssembly.Module(code);

/** Returns the functions of a module over a memory. The caller knows their types. */
export function instantiate(module: WasmModule, memory: SharedMemory): unknown {
  return new WebAssembly.Instance(module, { env: { memory } }).exports;
}

/** A memory that only grows, so that addresses stay valid. Views have to be taken again after growth. */
export class GrowingMemory {
  readonly memory: SharedMemory = new WebAssembly.Memory({ initial: 1, maximum: maxPages, shared: true });

  get buffer(): SharedArrayBuffer {
    return this.memory.buffer;
  }

  /** Makes the addresses below `end` usable; new memory is filled with zeros. Throws RangeError if it cannot grow. */
  growTo(end: number): void {
    const missing = end - this.buffer.byteLength;
    if (missing > 0) this.memory.grow(Math.ceil(missing / pageBytes));
  }

  bytes(address: number, count: number): Uint8Array {
    return new Uint8Array(this.buffer, address, count);
  }

  integers(address: number, count: number): Int8Array {
    return new Int8Array(this.buffer, address, count);
  }

  floats(address: number, count: number): Float32Array {
    return new Float32Array(this.buffer, address, count);
  }
}
