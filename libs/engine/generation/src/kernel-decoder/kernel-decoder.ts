import {
  OnnxTensors,
  readDecoderShape,
  type CompiledDecoder,
  type DecoderShape,
} from '#engine/onnx-compiler';
import type { ForwardItem } from '../decoder-backend.js';
import { bytesPerPosition, type KvSequence, type NewKeyValues } from '../kv-cache/kv-cache.js';
import { CacheMirrors } from './cache-mirror.js';
import { CachedAttention, type TokenPlace } from './cached-attention.js';
import { KernelMemory, type ThreadTeam } from './kernels.js';
import { isSupported, WeightReader, weightBytes, type KernelWeights } from './kernel-weights.js';
import { paddedRows, type PackedLayer } from './packed-layer.js';

/** Longer sequences are left to the graph. */
const maxPositions = 4096;
const positionStep = 64;

/** Maximum tokens of a pass. */
const maxRows = 8;
/**
 * Tokens of a pass up to which the kernels are faster than the graph. Products of bytes take 2.5 times as long for eight tokens as for
 * one. Products of words are slower than the graph from three tokens on.
 */
const fastRows = { bytes: maxRows, words: 2 };
/** The fewest columns of a block. */
const smallestBlock = 16;

/** The memory of the kernels ends at 4 GiB; the rest is for the vectors of a pass. */
const maxKernelBytes = 3.75 * 2 ** 30;

/** Limits of a {@link KernelDecoder}. */
export interface KernelLimits {
  /** Bytes of its weights and of its mirrors of caches. */
  readonly maxBytes: number;
  /** Threads of a product that reads its weights as fast as the memory. */
  readonly threads: number;
  /** Threads of a product that the processor limits. */
  readonly wideThreads: number;
}

/** Results of a pass, in memory that the next one overwrites. */
export interface TokenResults {
  /** New keys and values: each item is a row of the batch. */
  readonly news: NewKeyValues;
  /** The requested logits of each item. */
  readonly logits: Float32Array[];
}

type KvItem = ForwardItem<KvSequence>;

interface KernelParts {
  readonly weights: KernelWeights;
  readonly mirrors: CacheMirrors;
  readonly memory: KernelMemory;
}

/** Addresses of the vectors of a pass, each for all rows. */
interface Vectors {
  /** The residual stream. */
  readonly stream: number;
  readonly normed: number;
  /** Queries, keys and values; gate and up. */
  readonly projected: number;
  readonly attended: number;
  readonly gated: number;
  /** The output of a block. */
  readonly output: number;
  readonly logits: number;
  /** The input of a product in integers, and the factors of its rows. */
  readonly activations: number;
  readonly factors: number;
}

/**
 * Decodes one token for each of a few sequences in WebAssembly, with the weights and the arithmetic of the compiled
 * graph. ONNX Runtime runs more than a thousand operators for a pass, and its product of one row is slower. Integers are the
 * same as in the graph; sums of floats run in another order. The results of a token do not
 * depend on the other tokens of a pass.
 */
export class KernelDecoder {
  private readonly vectors: Vectors;
  private readonly attention: CachedAttention;
  /** Number of tokens up to which a pass is faster than one of the graph. */
  private readonly fastRows: number;
  private readonly weights: KernelWeights;
  private readonly mirrors: CacheMirrors;
  private readonly memory: KernelMemory;
  private readonly team: ThreadTeam;
  /** The threads of passes over more than {@link fastRows}. */
  private readonly wideTeam: ThreadTeam;

  private constructor(
    model: CompiledDecoder,
    private readonly shape: DecoderShape,
    { weights, mirrors, memory }: KernelParts,
    { threads, wideThreads }: KernelLimits,
  ) {
    this.weights = weights;
    this.mirrors = mirrors;
    this.memory = memory;
    const areBytes = model.weights === 'int4' || memory.kernels.multipliesBytes();
    this.fastRows = areBytes ? fastRows.bytes : fastRows.words;
    this.team = memory.startTeam(threads);
    this.wideTeam = areBytes ? this.team : memory.startTeam(wideThreads);
    const sizes = { rows: maxRows, capacity: mirrors.capacity, isExact: model.kernel === 'exact' };
    this.attention = new CachedAttention(model, shape, memory, sizes);
    this.vectors = this.allocateVectors(maxRows);
  }

  /**
   * Loads the weights of a compiled decoder a second time, in the layout of the kernels. Returns undefined if the model is
   * not supported, or would take more than `maxBytes`; weights in 4 bits need relaxed SIMD. Throws if a layer has a format that
   * the kernels do not read.
   */
  static async load(
    directory: string,
    model: CompiledDecoder,
    limits: KernelLimits,
  ): Promise<KernelDecoder | undefined> {
    const shape = await readDecoderShape(directory);
    if (!isSupported(shape, model)) return undefined;
    const tensors = await OnnxTensors.open(model.onnxPath);
    let memory: KernelMemory | undefined;
    try {
      const perPosition = bytesPerPosition(model);
      const positions =
        (Math.min(limits.maxBytes, maxKernelBytes) - weightBytes(shape, tensors)) / perPosition;
      const longest = Math.min(maxPositions, shape.contextLength + positionStep - 1, positions);
      const capacity = wholeSteps(longest);
      if (capacity <= 0) return undefined;
      memory = await KernelMemory.create();
      if (model.weights === 'int4' && !memory.isRelaxed) {
        memory.close();
        return undefined;
      }
      const weights = await new WeightReader(tensors, shape, memory, capacity).read();
      const mirrors = new CacheMirrors(model, capacity, Math.floor(positions / capacity), memory);
      return new KernelDecoder(model, shape, { weights, mirrors, memory }, limits);
    } catch (error) {
      memory?.close();
      throw error;
    } finally {
      await tensors.close();
    }
  }

  /**
   * True if it computes these tokens in one pass, and faster than the graph. Several tokens of one sequence are left to the graph, which
   * takes about as long for them (docs/design/generation.md).
   */
  takes(items: readonly KvItem[]): boolean {
    if (items.length > this.fastRows || !items.every((item) => this.canTake(item))) return false;
    return this.mirrors.reserve(items.map(({ sequence }) => sequence));
  }

  /** True if it can compute the token, whatever the other tokens of its pass are. */
  canTake({ sequence, tokens }: KvItem): boolean {
    return tokens.length === 1 && sequence.length < this.mirrors.capacity && this.mirrors.makeRoom(1) > 0;
  }

  /** Computes tokens that it {@link canTake}, in as many passes as they need, and hands each pass to `take`. */
  decodeAll(items: readonly KvItem[], take: (pass: readonly KvItem[], results: TokenResults) => void): void {
    const size = this.mirrors.makeRoom(Math.min(maxRows, items.length));
    for (let start = 0; start < items.length; start += size) {
      const pass = items.slice(start, start + size);
      take(pass, this.decode(pass));
    }
  }

  /** Computes a token behind each sequence; the caller raises their lengths. */
  decode(items: readonly KvItem[]): TokenResults {
    const { vectors, weights, shape } = this;
    const mirrors = this.mirrors.follow(items.map(({ sequence }) => sequence));
    const places = items.map(({ sequence }, row) => ({
      row,
      position: sequence.length,
      mirror: mirrors[row]!,
    }));
    for (const [row, { tokens }] of items.entries()) this.lookUp(tokens[0]!, row);
    for (let layer = 0; layer < shape.layers; layer++) this.layer(layer, places);
    this.normalize(weights.finalNorm, items.length);
    this.multiply(weights.head, vectors.normed, vectors.logits, items.length);
    for (const { sequence } of items) sequence.mirrored = sequence.length + 1;
    const logits = items.map((item, row) => (item.logits > 0 ? this.logits(row) : new Float32Array(0)));
    return { logits, news: this.attention.newKeyValues(items.length) };
  }

  /** Ends the threads. */
  close(): void {
    this.memory.close();
  }

  /** Forgets a released sequence. */
  forget(sequence: KvSequence): void {
    this.mirrors.forget(sequence);
  }

  /** Writes the embedding of a token into a row of the residual stream. */
  private lookUp(token: number, row: number): void {
    const { memory, shape, weights, vectors } = this;
    const { hiddenSize, embeddingFactor = 1 } = shape;
    const stream = memory.floats(vectors.stream + row * hiddenSize * 4, hiddenSize);
    weights.embedding.read(token, stream);
    if (embeddingFactor !== 1)
      for (let index = 0; index < hiddenSize; index++) stream[index]! *= embeddingFactor;
  }

  private layer(index: number, places: readonly TokenPlace[]): void {
    const { vectors, shape } = this;
    const { headDim, heads, kvHeads } = shape;
    const { normed, output, projected, attended, gated } = vectors;
    const layer = this.weights.layers[index]!;
    this.normalize(layer.attentionNorm, places.length);
    this.multiply(layer.queryKeyValue, normed, projected, places.length);
    const [projectedBytes, attendedBytes] = [(heads + 2 * kvHeads) * headDim * 4, heads * headDim * 4];
    for (const place of places) {
      const { row } = place;
      this.attention.attend(
        index,
        layer,
        place,
        projected + row * projectedBytes,
        attended + row * attendedBytes,
      );
    }
    this.multiply(layer.output, attended, output, places.length);
    this.addOutput(layer.attentionOutputNorm, places.length);
    this.normalize(layer.feedForwardNorm, places.length);
    this.multiply(layer.gateUp, normed, projected, places.length);
    this.gate(places.length);
    this.multiply(layer.down, gated, output, places.length);
    this.addOutput(layer.feedForwardOutputNorm, places.length);
  }

  /** Normalizes the residual stream. */
  private normalize(weight: number, rows: number): void {
    const { memory, vectors, shape } = this;
    const bytes = shape.hiddenSize * 4;
    for (let row = 0; row < rows; row++) {
      const [input, output] = [vectors.stream + row * bytes, vectors.normed + row * bytes];
      memory.kernels.normalize(input, weight, output, shape.hiddenSize, shape.normEpsilon);
    }
  }

  private gate(rows: number): void {
    const { memory, vectors, shape } = this;
    const { feedForward, isGemma } = shape;
    const kernel = isGemma ? 'gateGelu' : 'gateSilu';
    for (let row = 0; row < rows; row++) {
      const gate = vectors.projected + row * feedForward * 8;
      memory.kernels[kernel](
        gate,
        gate + feedForward * 4,
        vectors.gated + row * feedForward * 4,
        feedForward,
      );
    }
  }

  /** Adds the output of a block to the residual stream. */
  private addOutput(norm: number | undefined, rows: number): void {
    const { memory, vectors, shape } = this;
    const { hiddenSize, normEpsilon, residualFactor = 1 } = shape;
    const { kernels } = memory;
    if (norm !== undefined)
      for (let row = 0; row < rows; row++) {
        const place = vectors.output + row * hiddenSize * 4;
        kernels.normalize(place, norm, place, hiddenSize, normEpsilon);
      }
    kernels.addScaled(vectors.stream, vectors.output, residualFactor, rows * hiddenSize);
  }

  /** `input`: rows of `columns` floats; `output`: rows of `outputs` floats. */
  private multiply(
    { weights, bias, outputs, columns, bits, block }: PackedLayer,
    input: number,
    output: number,
    rows: number,
  ) {
    const { vectors, memory } = this;
    const { activations, factors } = vectors;
    const { kernels } = memory;
    const { task, isShared } = rows > this.fastRows ? this.wideTeam : this.team;
    if (bits === 4) kernels.quantizeBlocks(input, activations, columns, rows, factors, block);
    else if (block > 0) kernels.quantizeByteBlocks(input, activations, rows, columns, block, factors);
    else kernels.quantizeRows(input, activations, columns, rows, factors);
    const sizes = [outputs, columns, rows, bits, block] as const;
    kernels.multiply(weights, activations, factors, output, ...sizes, task, isShared);
    if (bias === undefined) return;
    for (let row = 0; row < rows; row++) kernels.addScaled(output + row * outputs * 4, bias, 1, outputs);
  }

  private logits(row: number): Float32Array {
    const { vocabularySize, logitsFactor = 1 } = this.shape;
    const { outputs } = this.weights.head;
    const logits = this.memory.floats(this.vectors.logits + row * outputs * 4, vocabularySize);
    if (logitsFactor !== 1)
      for (let index = 0; index < vocabularySize; index++) logits[index]! *= logitsFactor;
    return logits;
  }

  private allocateVectors(rows: number): Vectors {
    const { memory, shape } = this;
    const { hiddenSize, heads, kvHeads, headDim, feedForward, vocabularySize } = shape;
    const widest = Math.max(hiddenSize, heads * headDim, feedForward);
    const floats = (count: number): number => memory.allocate(rows * count * 4);
    return {
      stream: floats(hiddenSize),
      normed: floats(hiddenSize),
      projected: floats(Math.max((heads + 2 * kvHeads) * headDim, 2 * feedForward)),
      attended: floats(heads * headDim),
      gated: floats(feedForward),
      output: floats(hiddenSize),
      logits: floats(paddedRows(vocabularySize)),
      activations: memory.allocate(rows * widest * 2),
      factors: floats(2 * Math.ceil(widest / smallestBlock)),
    };
  }
}

const wholeSteps = (positions: number): number => Math.floor(positions / positionStep) * positionStep;
