import { OnnxTensors, type CompiledDecoder, type DecoderShape } from '#engine/onnx-compiler';
import type { KernelMemory } from './kernels.js';

/** A linear layer in the memory of the kernels: packed weights with their scales, and the bias if there is one. */
export interface PackedLayer {
  readonly weights: number;
  readonly bias?: number;
  /** A multiple of 4; the last rows may be padding. */
  readonly outputs: number;
  readonly columns: number;
  /** Halves of bytes of a weight in blocks: 1 for 4 bits, 2 for 8; 0 for int8 with a scale for each output. */
  readonly planes: number;
  /** Columns of a block. */
  readonly block: number;
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

/** Columns of int8 weights that are read from the file at once. */
const columnsAtOnce = 64;
/** Bytes of rows in blocks that are read at once, about. */
const bytesAtOnce = 2 ** 20;
const table = 'model.embed_tokens.weight.table';

/** Sums of 16 bits hold the products of this many columns. */
const largestBlock = 128;

/** Shape and format of a stored linear layer. */
interface StoredLayer {
  /** Name of the tensor of its numbers. */
  readonly source: string;
  readonly rows: number;
  readonly planes: number;
  readonly block: number;
}

/** Finds a linear layer: weights in blocks row by row, or int8 column by column. */
function storedLayer(tensors: OnnxTensors, name: string): StoredLayer {
  for (const [planes, bits] of [4, 8].entries()) {
    const source = `${name}.weight.bits${bits}`;
    if (!tensors.has(source)) continue;
    const [rows, , bytes] = tensors.shape(source);
    return { source, rows: rows!, planes: planes + 1, block: (bytes! * 8) / bits };
  }
  // uint8 for processors whose products of integers saturate.
  const source = `${name}.weight.${tensors.has(`${name}.weight.int8`) ? 'int8' : 'uint8'}`;
  return { source, rows: tensors.shape(source)[1]!, planes: 0, block: 0 };
}

/** Reads the weights of a compiled decoder into the memory of the kernels. */
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

  private async linear(name: string, columns: number): Promise<PackedLayer> {
    const { tensors, memory } = this;
    const stored = storedLayer(tensors, name);
    const { planes, block } = stored;
    const outputs = paddedRows(stored.rows);
    const weights = memory.allocate((outputs / 4) * stripeBytes({ columns, planes, block }));
    if (planes > 0) await this.packBlocks(name, stored, columns, weights);
    else await this.packColumns(name, stored, columns, weights);
    const bias = tensors.has(`${name}.bias`)
      ? memory.floatsOf(await tensors.floats(`${name}.bias`))
      : undefined;
    return { weights, bias, outputs, columns, planes, block };
  }

  private async packColumns(name: string, { source, rows }: StoredLayer, columns: number, weights: number) {
    const { tensors, memory } = this;
    const flip = source.endsWith('.int8') ? 128 : 0;
    // Packing reads four rows at a time, up to three bytes behind the last one.
    const scratch = this.reserve(columnsAtOnce * rows + 3);
    for (let first = 0; first < columns; first += columnsAtOnce) {
      const count = Math.min(columnsAtOnce, columns - first);
      await tensors.read(source, memory.bytes(scratch, count * rows), first * rows);
      memory.kernels.packWeights(scratch, weights, first, count, rows, columns, flip);
    }
    const scales = await tensors.floats(`${name}.weight.scales`);
    for (let row = 0; row < rows; row += 4) {
      const place = weights + (row / 4) * stripeBytes({ columns, planes: 0, block: 0 });
      memory.floats(place, 4).set(scales.subarray(row, row + 4));
    }
  }

  private async packBlocks(
    name: string,
    { source, rows, planes, block }: StoredLayer,
    columns: number,
    weights: number,
  ) {
    const { tensors, memory } = this;
    if (block > largestBlock || block % 16 !== 0 || rows % 4 !== 0)
      throw new Error(`${name} has ${rows} rows in blocks of ${block}, which the kernels do not support.`);
    const blocks = Math.ceil(columns / block);
    const rowBytes = (blocks * block * planes) / 2;
    const rowsAtOnce = Math.max(4, Math.floor(bytesAtOnce / rowBytes / 4) * 4);
    const scratch = this.reserve(rowsAtOnce * rowBytes + 8 * rows * blocks);
    const scales = scratch + rowsAtOnce * rowBytes;
    const zeroPoints = scales + 4 * rows * blocks;
    memory.floats(scales, rows * blocks).set(await tensors.floats(`${name}.weight.scales`));
    memory.floats(zeroPoints, rows * blocks).set(await this.zeroPoints(name, rows, blocks, planes));
    for (let first = 0; first < rows; first += rowsAtOnce) {
      const count = Math.min(rowsAtOnce, rows - first);
      await tensors.read(source, memory.bytes(scratch, count * rowBytes), first * rowBytes);
      for (let row = 0; row < count; row += 4) {
        const offset = (first + row) * blocks * 4;
        const target = weights + ((first + row) / 4) * stripeBytes({ columns, planes, block });
        memory.kernels.packBlockWeights(
          scratch + row * rowBytes,
          scales + offset,
          zeroPoints + offset,
          target,
          columns,
          planes,
          block,
        );
      }
    }
  }

  /** The zero point of each block, row by row; without stored ones, the middle of the numbers. */
  private async zeroPoints(
    name: string,
    rows: number,
    blocks: number,
    planes: number,
  ): Promise<Float32Array> {
    const source = `${name}.weight.zeros`;
    const points = new Float32Array(rows * blocks).fill(planes === 2 ? 128 : 8);
    if (!this.tensors.has(source)) return points;
    const rowBytes = Math.ceil(blocks / 2);
    const halves = new Uint8Array(rows * rowBytes);
    await this.tensors.read(source, halves);
    return points.map((_middle, place) => {
      const [row, index] = [Math.floor(place / blocks), place % blocks];
      return (halves[row * rowBytes + (index >> 1)]! >> ((index & 1) * 4)) & 15;
    });
  }

  private async embedding(head: PackedLayer): Promise<EmbeddingTable> {
    const { tensors, memory, shape } = this;
    const scales = memory.floatsOf(await tensors.floats(`${table}.scales`));
    if (shape.tiedEmbeddings) return { values: head.weights, packed: true, scales };
    const bytes = shape.vocabularySize * shape.hiddenSize;
    const values = memory.allocate(bytes);
    await tensors.read(`${table}.int8`, memory.bytes(values, bytes));
    return { values, packed: false, scales };
  }

  private reserve(bytes: number): number {
    if (this.scratch.bytes < bytes) this.scratch = { address: this.memory.allocate(bytes), bytes };
    return this.scratch.address;
  }
}

/** Bytes of four rows of packed weights: their scales, then their values. */
export function stripeBytes({
  columns,
  planes,
  block,
}: Pick<PackedLayer, 'columns' | 'planes' | 'block'>): number {
  return planes === 0 ? 16 + 4 * columns : planes * (32 * Math.ceil(columns / block) + 2 * columns);
}

/** Packed matrices have whole blocks of four rows. */
export const paddedRows = (rows: number): number => Math.ceil(rows / 4) * 4;

/** Bytes of the weights of a compiled decoder in the memory of the kernels, about. */
export function weightBytes(shape: DecoderShape, tensors: OnnxTensors): number {
  const { hiddenSize, heads, headDim, feedForward, layers, vocabularySize, tiedEmbeddings } = shape;
  const columnsOf = {
    'self_attn.qkv_proj': hiddenSize,
    'self_attn.o_proj': heads * headDim,
    'mlp.gate_up_proj': hiddenSize,
    'mlp.down_proj': feedForward,
  };
  const perLayer = Object.entries(columnsOf).map(([name, columns]) => {
    const stored = storedLayer(tensors, `model.layers.0.${name}`);
    return (paddedRows(stored.rows) / 4) * stripeBytes({ ...stored, columns });
  });
  const embeddings = hiddenSize * vocabularySize * (tiedEmbeddings ? 1 : 2);
  return layers * perLayer.reduce((sum, bytes) => sum + bytes, 0) + embeddings;
}

/** The kernels read an output layer with a scale for each output: it may be the table of embeddings too. */
export function hasReadableHead({ tiedEmbeddings }: DecoderShape, tensors: OnnxTensors): boolean {
  return storedLayer(tensors, tiedEmbeddings ? 'model.embed_tokens' : 'lm_head').planes === 0;
}

/** The numbers that kernels read in steps of 16 must be multiples of it. */
export function isSupported(shape: DecoderShape, { weights }: CompiledDecoder): boolean {
  const lengths = [shape.hiddenSize, shape.feedForward, shape.heads * shape.headDim, shape.headDim];
  return weights !== 'fp32' && lengths.every((length) => length % 16 === 0);
}
