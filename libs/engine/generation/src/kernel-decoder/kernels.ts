import { readFile } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import { builtFile } from '#platform/foundation';
import {
  compileModule,
  GrowingMemory,
  instantiate,
  isSupported,
  type SharedMemory,
  type WasmModule,
} from '#engine/webassembly';

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
    block: number,
  ): void;
  quantizeByteBlocks(
    input: number,
    output: number,
    rows: number,
    columns: number,
    block: number,
    factors: number,
  ): void;
  packByteBlocks(values: number, scales: number, target: number, columns: number, block: number): void;
  quantizeRows(input: number, output: number, columns: number, rows: number, factors: number): void;
  multiply(
    weights: number,
    activations: number,
    factors: number,
    output: number,
    outputs: number,
    columns: number,
    rows: number,
    bits: number,
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

/** Vectors begin at multiples of this, the size of a cache line. */
const alignment = 64;
const taskBytes = 64;
/** A thread of the kernels has little memory of its own. */
const smallHeap = { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 };

/** Input of a thread that helps with products. */
export interface KernelThreadInput {
  readonly module: WasmModule;
  readonly memory: SharedMemory;
  /** Address of the shared product. */
  readonly task: number;
}

/** Threads that share products. */
export interface ThreadTeam {
  /** Address of the product that they share. */
  readonly task: number;
  /** False for the calling thread alone. */
  readonly isShared: boolean;
}

/** Returns the kernels over a memory. */
export const kernelsOf = ({ module, memory }: Omit<KernelThreadInput, 'task'>): DecoderKernels =>
  instantiate(module, memory) as DecoderKernels;

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

/** Compiles the kernels: those with relaxed SIMD where the runtime has it (Node 22 and later). */
async function compileKernels(): Promise<{ module: WasmModule; isRelaxed: boolean }> {
  for (const name of ['decoder-kernels-relaxed.wasm', 'decoder-kernels.wasm']) {
    const code = await readFile(builtFile(name));
    if (isSupported(code)) return { module: compileModule(code), isRelaxed: name.includes('relaxed') };
  }
  throw new Error('The runtime lacks WebAssembly with SIMD and threads.');
}

/** The kernels and their memory, of which parts are allocated and not freed. */
export class KernelMemory extends GrowingMemory {
  readonly kernels: DecoderKernels;
  private used = alignment;
  private everything = new Float32Array(this.buffer);
  private readonly teams: ThreadTeam[] = [];

  private constructor(
    private readonly module: WasmModule,
    /** The kernels have relaxed SIMD, which products of weights in blocks need. */
    readonly isRelaxed: boolean,
  ) {
    super();
    this.kernels = kernelsOf({ module, memory: this.memory });
  }

  /** Loads the kernels over a new memory. */
  static async create(): Promise<KernelMemory> {
    const { module, isRelaxed } = await compileKernels();
    return new KernelMemory(module, isRelaxed);
  }

  /** Starts threads that help this one with products, so that `threads` of them share each. */
  startTeam(threads: number): ThreadTeam {
    const team = { task: this.allocate(taskBytes), isShared: threads > 1 };
    const workerData: KernelThreadInput = { module: this.module, memory: this.memory, task: team.task };
    for (let helper = 1; helper < threads; helper++) startHelper(workerData);
    this.teams.push(team);
    return team;
  }

  /** Ends the threads. */
  close(): void {
    for (const { task } of this.teams) this.kernels.endThreads(task);
  }

  /** Returns the address of new memory, filled with zeros. Throws RangeError if the memory cannot grow. */
  allocate(bytes: number): number {
    const address = this.used;
    const end = address + Math.ceil(bytes / alignment) * alignment;
    this.growTo(end);
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
    const { buffer } = this;
    if (this.everything.buffer !== buffer) this.everything = new Float32Array(buffer);
    return this.everything;
  }
}
