import { OnnxTensors, type CompiledDecoder, type DecoderShape } from '#engine/onnx-compiler';
import { openEmbeddings, type EmbeddingTable } from './embedding-table.js';
import type { KernelMemory } from './kernels.js';
import { paddedRows, stripeBytes, type PackedLayer } from './packed-layer.js';

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

/** Addresses of the weights of a decoder. */
export interface KernelWeights {
  readonly embedding: EmbeddingTable;
  readonly layers: readonly KernelLayer[];
  readonly finalNorm: number;
  readonly head: PackedLayer;
}

/** Columns of int8 weights that are read from the file at once. */
const columnsAtOnce = 64;
/** Bytes of rows in blocks that are read at once, about. */
const bytesAtOnce = 2 ** 20;

/** Sums of 16 bits hold the products of this many columns. */
const largestBlock = 128;

/** Shape and format of a stored linear layer. */
interface StoredLayer {
  /** Name of the tensor of its numbers. */
  readonly source: string;
  readonly rows: number;
  readonly bits: 4 | 8;
  readonly block: number;
}

/** Finds a linear layer: weights in blocks row by row, or int8 column by column. */
function storedLayer(tensors: OnnxTensors, name: string): StoredLayer {
  for (const bits of [4, 8] as const) {
    const source = `${name}.weight.bits${bits}`;
    if (!tensors.has(source)) continue;
    const [rows, , bytes] = tensors.shape(source);
    return { source, rows: rows!, bits, block: (bytes! * 8) / bits };
  }
  // uint8 for processors whose products of integers saturate.
  const source = `${name}.weight.${tensors.has(`${name}.weight.int8`) ? 'int8' : 'uint8'}`;
  return { source, rows: tensors.shape(source)[1]!, bits: 8, block: 0 };
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
    const embedding = await openEmbeddings(this.tensors, shape, this.memory, head);
    return { layers, head, finalNorm: await this.norm('model.norm'), embedding };
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
    const { bits, block } = stored;
    const outputs = paddedRows(stored.rows);
    const weights = memory.allocate((outputs / 4) * stripeBytes({ columns, bits, block }));
    if (block > 0) await this.packBlocks(name, stored, columns, weights);
    else await this.packColumns(name, stored, columns, weights);
    const bias = tensors.has(`${name}.bias`)
      ? memory.floatsOf(await tensors.floats(`${name}.bias`))
      : undefined;
    return { weights, bias, outputs, columns, bits, block };
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
      const place = weights + (row / 4) * stripeBytes({ columns, bits: 8, block: 0 });
      memory.floats(place, 4).set(scales.subarray(row, row + 4));
    }
  }

  /** Packs weights in blocks, four rows at a time; rows that fill up the last four have the scale 0. */
  private async packBlocks(
    name: string,
    { source, rows, bits, block }: StoredLayer,
    columns: number,
    weights: number,
  ) {
    const { tensors, memory } = this;
    if (block > largestBlock || block % 16 !== 0)
      throw new Error(`${name} has blocks of ${block}, which the kernels do not support.`);
    const blocks = Math.ceil(columns / block);
    const rowBytes = (blocks * block * bits) / 8;
    const rowsAtOnce = Math.max(4, Math.floor(bytesAtOnce / rowBytes / 4) * 4);
    const count = paddedRows(rows) * blocks;
    const scratch = this.reserve(rowsAtOnce * rowBytes + 8 * count);
    const scales = scratch + rowsAtOnce * rowBytes;
    const zeroPoints = scales + 4 * count;
    memory.floats(scales, 2 * count).fill(0);
    memory.floats(scales, rows * blocks).set(await tensors.floats(`${name}.weight.scales`));
    if (bits === 4) memory.floats(zeroPoints, rows * blocks).set(await this.zeroPoints(name, rows, blocks));
    for (let first = 0; first < rows; first += rowsAtOnce) {
      const read = Math.min(rowsAtOnce, rows - first);
      await tensors.read(source, memory.bytes(scratch, read * rowBytes), first * rowBytes);
      for (let row = 0; row < read; row += 4) {
        const offset = (first + row) * blocks * 4;
        const target = weights + ((first + row) / 4) * stripeBytes({ columns, bits, block });
        const parts = [scratch + row * rowBytes, scales + offset] as const;
        if (bits === 8) memory.kernels.packByteBlocks(...parts, target, columns, block);
        else memory.kernels.packBlockWeights(...parts, zeroPoints + offset, target, columns, block);
      }
    }
  }

  /** The zero point of each block, row by row; without stored ones, the middle of the numbers. */
  private async zeroPoints(name: string, rows: number, blocks: number): Promise<Float32Array> {
    const source = `${name}.weight.zeros`;
    const points = new Float32Array(rows * blocks).fill(8);
    if (!this.tensors.has(source)) return points;
    const rowBytes = Math.ceil(blocks / 2);
    const halves = new Uint8Array(rows * rowBytes);
    await this.tensors.read(source, halves);
    return points.map((_middle, place) => {
      const [row, index] = [Math.floor(place / blocks), place % blocks];
      return (halves[row * rowBytes + (index >> 1)]! >> ((index & 1) * 4)) & 15;
    });
  }

  private reserve(bytes: number): number {
    if (this.scratch.bytes < bytes) this.scratch = { address: this.memory.allocate(bytes), bytes };
    return this.scratch.address;
  }
}

/** Bytes of the weights of a compiled decoder in the memory of the kernels, about. */
export function weightBytes(shape: DecoderShape, tensors: OnnxTensors): number {
  const { hiddenSize, heads, headDim, feedForward, layers, vocabularySize, tiedEmbeddings } = shape;
  const columnsOf = {
    'self_attn.qkv_proj': hiddenSize,
    'self_attn.o_proj': heads * headDim,
    'mlp.gate_up_proj': hiddenSize,
    'mlp.down_proj': feedForward,
  };
  const bytesOf = (name: string, columns: number): number => {
    const stored = storedLayer(tensors, name);
    return (paddedRows(stored.rows) / 4) * stripeBytes({ ...stored, columns });
  };
  const perLayer = Object.entries(columnsOf).map(([name, columns]) =>
    bytesOf(`model.layers.0.${name}`, columns),
  );
  const head = bytesOf(tiedEmbeddings ? 'model.embed_tokens' : 'lm_head', hiddenSize);
  const table = tiedEmbeddings ? 0 : hiddenSize * vocabularySize;
  return layers * perLayer.reduce((sum, bytes) => sum + bytes, 0) + head + table;
}

/** The numbers that kernels read in steps of 16 must be multiples of it. */
export function isSupported(shape: DecoderShape, { weights }: CompiledDecoder): boolean {
  const lengths = [shape.hiddenSize, shape.feedForward, shape.heads * shape.headDim, shape.headDim];
  return weights !== 'fp32' && lengths.every((length) => length % 16 === 0);
}
