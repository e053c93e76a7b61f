import { OnnxTensors, readDecoderShape, type CompiledDecoder, type DecoderShape } from '#onnx-compiler';
import { bytesPerPosition, NewKeyValues, type KvSequence } from '../kv-cache/kv-cache.js';
import { CacheMirror } from './cache-mirror.js';
import { KernelMemory } from './kernels.js';
import {
  isSupported,
  paddedRows,
  WeightReader,
  weightBytes,
  type PackedLayer,
  type SingleTokenLayer,
  type SingleTokenWeights,
} from './single-token-weights.js';

/** Sequences of more positions are not decoded here. */
const maxPositions = 4096;
const positionStep = 64;

/** Limits of a {@link SingleTokenDecoder}. */
export interface SingleTokenLimits {
  /** Bytes of its weights and of its mirror of a cache. */
  readonly maxBytes: number;
  /** Threads of a product. */
  readonly threads: number;
}

/** Addresses of the vectors of a pass. */
interface Vectors {
  /** The residual stream. */
  readonly stream: number;
  /** The input of a layer, normalized; and the result of attention. */
  readonly normed: number;
  /** The output of a layer. */
  readonly output: number;
  /** Queries, keys and values; gate and up. */
  readonly projected: number;
  /** The input of a product in integers of 16 bits. */
  readonly quantized: number;
  readonly scores: number;
  readonly ones: number;
  readonly logits: number;
  /** New keys and values of all layers, and their scales. */
  readonly news: number;
  readonly newScales: number;
}

/**
 * Decodes one token of one sequence in WebAssembly, with the int8 weights and the arithmetic of the compiled graph.
 * ONNX Runtime reads the weights of a single row at half the speed, and runs a thousand operators for it.
 * Integers are the same as in the graph; sums of floats run in another order.
 */
export class SingleTokenDecoder {
  private readonly vectors: Vectors;
  private readonly scale: number;
  private readonly kernels: KernelMemory['kernels'];

  private constructor(
    private readonly model: CompiledDecoder,
    private readonly shape: DecoderShape,
    private readonly weights: SingleTokenWeights,
    private readonly mirror: CacheMirror,
    private readonly memory: KernelMemory,
  ) {
    this.kernels = memory.kernels;
    this.vectors = this.allocateVectors();
    this.scale = shape.scale ?? shape.headDim ** -0.5;
  }

  /**
   * Loads the weights of a compiled decoder a second time, packed for single rows. Returns undefined if the model is not
   * supported or would take more than `maxBytes`. `threads`: threads of a product.
   */
  static async load(
    directory: string,
    model: CompiledDecoder,
    { maxBytes, threads }: SingleTokenLimits,
  ): Promise<SingleTokenDecoder | undefined> {
    const shape = await readDecoderShape(directory);
    if (!isSupported(shape, model) || weightBytes(shape) > maxBytes) return undefined;
    const free = (maxBytes - weightBytes(shape)) / (bytesPerPosition(model) + model.headDim);
    const positions = Math.min(
      maxPositions,
      Math.ceil(shape.contextLength / positionStep) * positionStep,
      free,
    );
    const capacity = Math.floor(positions / positionStep) * positionStep;
    if (capacity === 0) return undefined;
    const memory = await KernelMemory.create(threads);
    const tensors = await OnnxTensors.open(model.onnxPath);
    try {
      const weights = await new WeightReader(tensors, shape, memory).read();
      const mirror = new CacheMirror(model, capacity, memory);
      return new SingleTokenDecoder(model, shape, weights, mirror, memory);
    } finally {
      await tensors.close();
    }
  }

  /** True if a sequence has room for one more token. */
  takes({ length }: KvSequence): boolean {
    return length < this.mirror.capacity;
  }

  /**
   * Computes a token behind a sequence, whose length the caller raises. Returns the logits of the next token, and the
   * keys and values of this one, both in memory that the next call overwrites.
   */
  decode(sequence: KvSequence, token: number): { logits: Float32Array; news: NewKeyValues } {
    const { kernels, vectors, weights, shape } = this;
    this.mirror.follow(sequence);
    this.lookUp(token);
    const position = sequence.length;
    for (let layer = 0; layer < shape.layers; layer++) this.layer(layer, position);
    kernels.normalize(vectors.stream, weights.finalNorm, vectors.normed, shape.hiddenSize, shape.normEpsilon);
    this.multiply(weights.head, vectors.normed, vectors.logits);
    sequence.mirrored = position + 1;
    return { logits: this.logits(), news: this.news() };
  }

  /** Ends the threads. */
  close(): void {
    this.memory.close();
  }

  /** Forgets a released sequence. */
  forget(sequence: KvSequence): void {
    this.mirror.forget(sequence);
  }

  private lookUp(token: number): void {
    const { memory, shape, weights, vectors } = this;
    const { hiddenSize, embeddingFactor = 1 } = shape;
    const { values, packed, scales } = weights.embedding;
    const stream = memory.floats(vectors.stream, hiddenSize);
    const scale = memory.floats(scales, token + 1)[token]! * embeddingFactor;
    if (packed) {
      const block = memory.integers(values + Math.floor(token / 4) * 4 * hiddenSize, 4 * hiddenSize);
      const first = (token % 4) * 8;
      for (let index = 0; index < hiddenSize; index++)
        stream[index] = block[first + (index >> 3) * 32 + (index & 7)]! * scale;
    } else {
      const row = memory.integers(values + token * hiddenSize, hiddenSize);
      for (let index = 0; index < hiddenSize; index++) stream[index] = row[index]! * scale;
    }
  }

  private layer(index: number, position: number): void {
    const { kernels, vectors, shape } = this;
    const { hiddenSize, normEpsilon, feedForward } = shape;
    const { stream, normed, output, projected } = vectors;
    const layer = this.weights.layers[index]!;
    kernels.normalize(stream, layer.attentionNorm, normed, hiddenSize, normEpsilon);
    this.multiply(layer.queryKeyValue, normed, projected);
    this.attend(index, layer, position);
    this.multiply(layer.output, normed, output);
    this.addOutput(layer.attentionOutputNorm);
    kernels.normalize(stream, layer.feedForwardNorm, normed, hiddenSize, normEpsilon);
    this.multiply(layer.gateUp, normed, projected);
    const up = projected + feedForward * 4;
    if (shape.isGemma) kernels.gateGelu(projected, up, projected, feedForward);
    else kernels.gateSilu(projected, up, projected, feedForward);
    this.multiply(layer.down, projected, output);
    this.addOutput(layer.feedForwardOutputNorm);
  }

  /** Adds the output of a block to the residual stream. */
  private addOutput(norm: number | undefined): void {
    const { kernels, vectors, shape } = this;
    const { stream, output } = vectors;
    if (norm) kernels.normalize(output, norm, output, shape.hiddenSize, shape.normEpsilon);
    kernels.addScaled(stream, output, shape.residualFactor ?? 1, shape.hiddenSize);
  }

  private multiply(
    { values, scales, bias, rows, columns }: PackedLayer,
    input: number,
    output: number,
  ): void {
    const { kernels, vectors, memory } = this;
    const largest = kernels.quantizeRow(input, vectors.quantized, columns, 127);
    kernels.multiply(values, scales, vectors.quantized, largest, output, rows, columns, memory.task);
    if (bias) kernels.addScaled(output, bias, 1, rows);
  }

  /** Rotates queries and keys, stores keys and values, and attends; the result is in `normed`. */
  private attend(index: number, layer: SingleTokenLayer, position: number): void {
    const { kernels, vectors, shape, mirror, model } = this;
    const { heads, kvHeads, headDim } = shape;
    const queries = vectors.projected;
    const keys = queries + heads * headDim * 4;
    this.prepareHeads(queries, heads, layer.queryNorm, layer, position);
    this.prepareHeads(keys, kvHeads, layer.keyNorm, layer, position);
    for (const part of [0, 1] as const)
      for (let head = 0; head < kvHeads; head++)
        this.store(index, part, head, position, keys + (part * kvHeads + head) * headDim * 4);
    const count = position + 1;
    const { window } = shape;
    const first = window?.layers[index] ? Math.max(0, count - window.size) : 0;
    for (let head = 0; head < heads; head++) {
      const query = queries + head * headDim * 4;
      const output = vectors.normed + head * headDim * 4;
      const kvHead = Math.floor((head * kvHeads) / heads);
      const [key, value] = [mirror.numbersOf(index, 0, kvHead), mirror.numbersOf(index, 1, kvHead)];
      if (model.kv === 'float') {
        kernels.attendFloats(query, key, value, vectors.scores, output, first, count, headDim, this.scale);
      } else {
        const [keyScales, valueScales] = [
          mirror.scalesOf(index, 0, kvHead),
          mirror.scalesOf(index, 1, kvHead),
        ];
        kernels.attendIntegers(
          query,
          key,
          keyScales,
          value,
          valueScales,
          vectors.ones,
          vectors.scores,
          output,
          first,
          count,
          mirror.capacity,
          headDim,
          this.scale,
        );
      }
    }
  }

  private prepareHeads(
    address: number,
    count: number,
    norm: number | undefined,
    { rotary }: SingleTokenLayer,
    position: number,
  ): void {
    const { kernels, shape } = this;
    const { headDim, normEpsilon } = shape;
    if (norm !== undefined)
      for (let head = 0; head < count; head++) {
        const place = address + head * headDim * 4;
        kernels.normalize(place, norm, place, headDim, normEpsilon);
      }
    if (!rotary) return;
    const row = position * headDim * 2;
    kernels.rotate(address, count, headDim, rotary.cosines + row, rotary.sines + row);
  }

  /** Writes a new key (part 0) or value (part 1) into the mirror and into the result. */
  private store(layer: number, part: 0 | 1, head: number, position: number, source: number): void {
    const { kernels, vectors, memory, mirror, shape, model } = this;
    const { headDim, kvHeads } = shape;
    const row = (2 * layer + part) * kvHeads + head;
    const target = mirror.numbersOf(layer, part, head);
    if (model.kv === 'float') {
      memory.allFloats.copyWithin(vectors.news / 4 + row * headDim, source / 4, source / 4 + headDim);
      memory.allFloats.copyWithin(target / 4 + position * headDim, source / 4, source / 4 + headDim);
      return;
    }
    const numbers = vectors.news + row * headDim;
    const scale = kernels.quantizeHead(source, numbers, headDim);
    memory.allFloats[vectors.newScales / 4 + row] = scale;
    memory.allFloats[mirror.scalesOf(layer, part, head) / 4 + position] = scale;
    if (part === 0) kernels.putKey(numbers, target, position, headDim);
    else kernels.putValue(numbers, target, position, headDim, mirror.capacity);
  }

  private logits(): Float32Array {
    const { vocabularySize, logitsFactor = 1 } = this.shape;
    const logits = this.memory.floats(this.vectors.logits, vocabularySize);
    if (logitsFactor !== 1)
      for (let index = 0; index < vocabularySize; index++) logits[index]! *= logitsFactor;
    return logits;
  }

  private news(): NewKeyValues {
    const { memory, vectors, model } = this;
    const { layers, kvHeads, headDim, kv } = model;
    const rows = 2 * layers * kvHeads;
    const numbers = memory[kv === 'float' ? 'floats' : 'integers'](vectors.news, rows * headDim);
    const outputs = {
      new_kv: { data: numbers },
      new_kv_scale: { data: memory.floats(vectors.newScales, rows) },
    };
    return new NewKeyValues(outputs, rows, 1);
  }

  private allocateVectors(): Vectors {
    const { memory, shape, mirror } = this;
    const { hiddenSize, heads, kvHeads, headDim, feedForward, layers, vocabularySize } = shape;
    const projected = Math.max((heads + 2 * kvHeads) * headDim, 2 * feedForward);
    const widest = Math.max(hiddenSize, heads * headDim);
    const rows = 2 * layers * kvHeads;
    return {
      stream: memory.allocate(hiddenSize * 4),
      normed: memory.allocate(widest * 4),
      output: memory.allocate(hiddenSize * 4),
      projected: memory.allocate(paddedRows(projected) * 4),
      quantized: memory.allocate(Math.max(widest, feedForward) * 2),
      scores: memory.allocate(mirror.capacity * 4 + Math.max(mirror.capacity, headDim) * 2),
      ones: memory.floatsOf(new Float32Array(headDim).fill(1)),
      logits: memory.allocate(paddedRows(vocabularySize) * 4),
      news: memory.allocate(rows * headDim * 4),
      newScales: memory.allocate(rows * 4),
    };
  }
}
