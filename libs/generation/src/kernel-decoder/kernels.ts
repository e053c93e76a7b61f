import { readFile } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import { builtFile } from '#paths';

/** The functions of wasm/decoder-kernels.ts, which documents them. Addresses are bytes in the module's memory. */
export interface DecoderKernels {
  multipliesBytes(): boolean;
  quantizeBlocks(
    input: number,
    output: number,
    columns: number,
    rows: number,
    factors: number,
    block: number,
  ): void;
  packBlockWeights(
    values: number,
    scales: number,
    zeroPoints: number,
    target: number,
    columns: number,
    planes: number,
    block: number,
  ): void;
  quantizeRows(input: number, output: number, columns: number, rows: number, factors: number): void;
  multiply(
    weights: number,
    activations: number,
    factors: number,
    output: number,
    outputs: number,
    columns: number,
    rows: number,
    planes: number,
    block: number,
    task: number,
    isShared: boolean,
  ): void;
  serve(task: number): void;
  endThreads(task: number): void;
  packWeights(
    source: number,
    target: number,
    first: number,
    columns: number,
    rows: number,
    width: number,
    flip: number,
  ): void;
  packCache(
    source: number,
    target: number,
    first: number,
    columns: number,
    rows: number,
    sourceStride: number,
    stride: number,
  ): void;
  normalize(input: number, weight: number, output: number, count: number, epsilon: number): void;
  addScaled(target: number, source: number, factor: number, count: number): void;
  rotate(heads: number, count: number, width: number, cosines: number, sines: number): void;
  gateSilu(gate: number, up: number, output: number, count: number): void;
  gateGelu(gate: number, up: number, output: number, count: number): void;
  attendIntegers(
    queries: number,
    keys: number,
    keyScales: number,
    values: number,
    valueScales: number,
    ones: number,
    scratch: number,
    output: number,
    ...span: AttentionSpan
  ): void;
  attendFloats(
    queries: number,
    keys: number,
    values: number,
    scratch: number,
    output: number,
    ...span: AttentionSpan
  ): void;
  storeIntegers(
    input: number,
    numbers: number,
    scales: number,
    cache: number,
    cacheScales: number,
    position: number,
    capacity: number,
    kvHeads: number,
    width: number,
    areValues: boolean,
  ): void;
}

/** The positions that a token attends to, and the sizes of the attention. */
export type AttentionSpan = readonly [
  first: number,
  count: number,
  capacity: number,
  heads: number,
  kvHeads: number,
  width: number,
  factor: number,
  queryLevels: number,
  weightLevels: number,
];

/** A memory that threads share. */
interface SharedMemory {
  readonly buffer: SharedArrayBuffer;
  grow(pages: number): number;
}

/** A compiled module, which threads share. */
type Module = object;

/** Node has it, but the loaded type libraries do not declare it. */
declare const WebAssembly: {
  validate(code: Uint8Array): boolean;
  Module: new (code: Uint8Array) => Module;
  Memory: new (limits: { initial: number; maximum: number; shared: true }) => SharedMemory;
  Instance: new (module: Module, imports: { env: { memory: SharedMemory } }) => { exports: unknown };
};

const pageBytes = 65_536;
/** 4 GiB, the most that addresses of 32 bits reach. The memory takes what is allocated. */
const maxPages = 65_536;
/** Vectors begin at multiples of this, the size of a cache line. */
const alignment = 64;
const taskBytes = 64;
/** A thread of the kernels has little memory of its own. */
const smallHeap = { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 };

/** Input of a thread that helps with products. */
export interface KernelThreadInput {
  readonly module: Module;
  readonly memory: SharedMemory;
  /** Address of the shared product. */
  readonly task: number;
}

/** Returns the kernels over a memory. */
export function kernelsOf({ module, memory }: Omit<KernelThreadInput, 'task'>): DecoderKernels {
  return new WebAssembly.Instance(module, { env: { memory } }).exports as DecoderKernels;
}

/**
 * Starts a thread that helps with products. It needs nothing of the environment, and without it the other threads compute
 * its parts.
 */
function startHelper(workerData: KernelThreadInput): void {
  const options = { workerData, resourceLimits: smallHeap, env: {}, execArgv: [] };
  const helper = new Worker(builtFile('kernel.worker'), options);
  helper.on('error', ({ message }) => process.emitWarning(`A thread of the kernels ended: ${message}`));
  helper.unref();
}

/** Loads the kernels over a memory: those with relaxed SIMD where the runtime has it (Node 22 and later). */
async function loadKernels(memory: SharedMemory) {
  for (const name of ['decoder-kernels-relaxed.wasm', 'decoder-kernels.wasm']) {
    const code = await readFile(builtFile(name));
    if (!WebAssembly.validate(code)) continue;
    const module = new WebAssembly.Module(code);
    return { module, kernels: kernelsOf({ module, memory }), isRelaxed: name.includes('relaxed') };
  }
  throw new Error('The runtime lacks WebAssembly with SIMD and threads.');
}

/**
 * The kernels and their memory. The memory only grows, so that addresses stay valid; views have to be taken again after
 * growth.
 */
export class KernelMemory {
  private used = alignment;
  private everything: Float32Array;
  /** Address of the product that threads share. */
  readonly task: number;

  private constructor(
    private readonly memory: SharedMemory,
    readonly kernels: DecoderKernels,
    /** The kernels have relaxed SIMD, which products of weights in blocks need. */
    readonly isRelaxed: boolean,
    /** Other threads may help with products. */
    readonly isShared: boolean,
  ) {
    this.everything = new Float32Array(memory.buffer);
    this.task = this.allocate(taskBytes);
  }

  /** Loads the kernels over a new memory, and starts the threads that help this one. */
  static async create(threads: number): Promise<KernelMemory> {
    const memory = new WebAssembly.Memory({ initial: 1, maximum: maxPages, shared: true });
    const { module, kernels, isRelaxed } = await loadKernels(memory);
    const created = new KernelMemory(memory, kernels, isRelaxed, threads > 1);
    const workerData: KernelThreadInput = { module, memory, task: created.task };
    for (let helper = 1; helper < threads; helper++) startHelper(workerData);
    return created;
  }

  /** Ends the threads. */
  close(): void {
    this.kernels.endThreads(this.task);
  }

  /** Returns the address of new memory, filled with zeros. Throws RangeError if the memory cannot grow. */
  allocate(bytes: number): number {
    const address = this.used;
    const end = address + Math.ceil(bytes / alignment) * alignment;
    const missing = end - this.memory.buffer.byteLength;
    if (missing > 0) this.memory.grow(Math.ceil(missing / pageBytes));
    this.used = end;
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
