import { OnnxTensors, type CompiledDecoder, type DecoderShape } from '#onnx-compiler';
import type { KernelMemory } from './kernels.js';

/** A linear layer in the memory of the kernels: packed weights with their scales, and the bias if there is one. */
export interface PackedLayer {
  readonly weights: number;
  readonly bias?: number;
  /** A multiple of 4; the last rows may be padding. */
  readonly outputs: number;
  readonly columns: number;
}

/** Addresses of the weights of one decoder layer. */
export interface KernelLayer {
  readonly attentionNorm: number;
  readonly queryKeyValue: PackedLayer;
  readonly queryNorm?: number;
  readonly keyNorm?: number;
  readonly output: PackedLayer;
  readonly attentionOutputNorm?: number;
  readonly feedForwardOutputNorm?: number;
  readonly feedForwardNorm: number;
  readonly gateUp: PackedLayer;
  readonly down: PackedLayer;
  /** Rotary tables; absent if the layer does not use positions. */
  readonly rotary?: { readonly cosines: number; readonly sines: number };
}

/** The embedding table: a packed matrix that is also the output layer, or rows of int8 of its own. */
interface EmbeddingTable {
  readonly values: number;
  readonly packed: boolean;
  readonly scales: number;
}

/** Addresses of the weights of a decoder. */
export interface KernelWeights {
  readonly embedding: EmbeddingTable;
  readonly layers: readonly KernelLayer[];
  readonly finalNorm: number;
  readonly head: PackedLayer;
  /** False if the graph was compiled for a processor whose products of integers saturate. */
  readonly isExact: boolean;
}

/** Columns that are read from the file at once. */
const columnsAtOnce = 64;
const table = 'model.embed_tokens.weight.table';

/** Reads the int8 weights of a compiled decoder into the memory of the kernels. */
export class WeightReader {
  private scratch = { address: 0, bytes: 0 };

  constructor(
    private readonly tensors: OnnxTensors,
    private readonly shape: DecoderShape,
    private readonly memory: KernelMemory,
    /** Positions for which rotary tables are read. */
    private readonly capacity: number,
  ) {}

  async read(): Promise<KernelWeights> {
    const { shape } = this;
    const rotary = await this.rotary('rotary');
    const windowed = shape.window?.rope ? await this.rotary('rotary.window') : rotary;
    const layers: KernelLayer[] = [];
    for (let index = 0; index < shape.layers; index++) {
      const layer = await this.layer(`model.layers.${index}`);
      const tables = shape.window?.layers[index] ? windowed : rotary;
      layers.push(shape.rotatedLayers?.[index] === false ? layer : { ...layer, rotary: tables });
    }
    const name = shape.tiedEmbeddings ? 'model.embed_tokens' : 'lm_head';
    const head = await this.linear(name, shape.hiddenSize);
    const embedding = await this.embedding(head);
    const isExact = this.tensors.has(`${name}.weight.int8`);
    return { layers, head, finalNorm: await this.norm('model.norm'), embedding, isExact };
  }

  private async layer(prefix: string): Promise<KernelLayer> {
    const { hiddenSize, heads, headDim, feedForward, isGemma } = this.shape;
    const attention = `${prefix}.self_attn`;
    const behind = await this.norm(`${prefix}.post_attention_layernorm`);
    return {
      attentionNorm: await this.norm(`${prefix}.input_layernorm`),
      queryKeyValue: await this.linear(`${attention}.qkv_proj`, hiddenSize),
      queryNorm: await this.optionalNorm(`${attention}.q_norm`),
      keyNorm: await this.optionalNorm(`${attention}.k_norm`),
      output: await this.linear(`${attention}.o_proj`, heads * headDim),
      attentionOutputNorm: isGemma ? behind : undefined,
      feedForwardNorm: isGemma ? await this.norm(`${prefix}.pre_feedforward_layernorm`) : behind,
      feedForwardOutputNorm: await this.optionalNorm(`${prefix}.post_feedforward_layernorm`),
      gateUp: await this.linear(`${prefix}.mlp.gate_up_proj`, hiddenSize),
      down: await this.linear(`${prefix}.mlp.down_proj`, feedForward),
    };
  }

  private async norm(name: string): Promise<number> {
    const suffix = this.shape.isGemma ? '.weight.shifted' : '.weight';
    return this.memory.floatsOf(await this.tensors.floats(name + suffix));
  }

  private async optionalNorm(name: string): Promise<number | undefined> {
    const exists = this.tensors.has(`${name}.weight`) || this.tensors.has(`${name}.weight.shifted`);
    return exists ? this.norm(name) : undefined;
  }

  private async rotary(prefix: string): Promise<{ cosines: number; sines: number }> {
    const place = async (name: string) => {
      const table = await this.tensors.floats(name);
      return this.memory.floatsOf(table.subarray(0, (this.capacity * this.shape.headDim) / 2));
    };
    return { cosines: await place(`${prefix}.cosines`), sines: await place(`${prefix}.sines`) };
  }

  /** The graph stores a matrix column by column; uint8 for processors whose products of integers saturate. */
  private async linear(name: string, columns: number): Promise<PackedLayer> {
    const { tensors, memory } = this;
    const isSigned = tensors.has(`${name}.weight.int8`);
    const source = `${name}.weight.${isSigned ? 'int8' : 'uint8'}`;
    const rows = tensors.shape(source)[1]!;
    const outputs = paddedRows(rows);
    const weights = memory.allocate((outputs / 4) * stripeBytes(columns));
    // Packing reads four rows at a time, up to three bytes behind the last one.
    const scratch = this.reserve(columnsAtOnce * rows + 3);
    for (let first = 0; first < columns; first += columnsAtOnce) {
      const count = Math.min(columnsAtOnce, columns - first);
      await tensors.read(source, memory.bytesAt(scratch, count * rows), first * rows);
      memory.kernels.packWeights(scratch, weights, first, count, rows, columns, isSigned ? 128 : 0);
    }
    const scales = await tensors.floats(`${name}.weight.scales`);
    for (let row = 0; row < rows; row += 4) {
      const place = weights + (row / 4) * stripeBytes(columns);
      memory.floats(place, 4).set(scales.subarray(row, row + 4));
    }
    const bias = tensors.has(`${name}.bias`)
      ? memory.floatsOf(await tensors.floats(`${name}.bias`))
      : undefined;
    return { weights, bias, outputs, columns };
  }

  private async embedding(head: PackedLayer): Promise<EmbeddingTable> {
    const { tensors, memory, shape } = this;
    const scales = memory.floatsOf(await tensors.floats(`${table}.scales`));
    if (shape.tiedEmbeddings) return { values: head.weights, packed: true, scales };
    const bytes = shape.vocabularySize * shape.hiddenSize;
    const values = memory.allocate(bytes);
    await tensors.read(`${table}.int8`, memory.bytesAt(values, bytes));
    return { values, packed: false, scales };
  }

  private reserve(bytes: number): number {
    if (this.scratch.bytes < bytes) this.scratch = { address: this.memory.allocate(bytes), bytes };
    return this.scratch.address;
  }
}

/** Bytes of four rows of packed weights: their scales, then their values. */
export const stripeBytes = (columns: number): number => 16 + 4 * columns;

/** Packed matrices have whole blocks of four rows. */
export const paddedRows = (rows: number): number => Math.ceil(rows / 4) * 4;

/** Bytes of the weights of a compiled decoder in the memory of the kernels. */
export function weightBytes(shape: DecoderShape): number {
  const { hiddenSize, heads, kvHeads, headDim, feedForward, layers, vocabularySize } = shape;
  const perLayer = hiddenSize * headDim * (2 * heads + 2 * kvHeads) + 3 * hiddenSize * feedForward;
  return layers * perLayer + hiddenSize * vocabularySize * (shape.tiedEmbeddings ? 1 : 2);
}

/** The numbers that kernels read in steps of 16 must be multiples of it. */
export function isSupported(shape: DecoderShape, { weights }: CompiledDecoder): boolean {
  const lengths = [shape.hiddenSize, shape.feedForward, shape.heads * shape.headDim, shape.headDim];
  return weights === 'int8' && lengths.every((length) => length % 16 === 0);
}
