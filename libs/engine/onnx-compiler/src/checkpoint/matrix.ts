import { z } from 'zod';
import type { StoredValues } from '../kernels/stored-values.js';
import type { RowRange, SafetensorsReader } from './safetensors.js';
import { transpose } from './transpose.js';

/** Rows `first` to `first + count − 1` of a matrix. */
export interface Piece extends RowRange {
  readonly values: StoredValues;
}

/** A weight matrix of a checkpoint, `[rows, columns]` = `[outputs, inputs]` as in PyTorch. It is read on demand. */
export interface Matrix {
  /** Name of its constants in the graph. */
  readonly name: string;
  readonly rows: number;
  readonly columns: number;
  readonly read: () => Promise<Float32Array>;
  /**
   * Reads the matrix in pieces of whole rows of about `valuesAtOnce` values, so that a large one is never whole in memory as
   * float32. The numbers of a piece are valid until the next one is requested. Present if the checkpoint stores the matrix
   * unchanged.
   */
  readonly readPieces?: (valuesAtOnce: number) => AsyncGenerator<Piece>;
  /** Block-wise weights of the checkpoint, in the layout of the operator. */
  readonly blocks?: { readonly format: BlockFormat; read(): Promise<BlockMatrix> };
}

/** Scale and offset of a layer normalization. */
export interface NormWeights {
  readonly scale: Matrix;
  readonly offset?: Matrix;
}

/** Format of block-wise weights. */
export interface BlockFormat {
  readonly bits: 4 | 8;
  readonly block: number;
  /** With 4 bits: true if each block has its own zero point; otherwise it is 8 (128 with 8 bits). */
  readonly zeroPoints: boolean;
}

/**
 * Weights in the layout of ONNX Runtime's MatMulNBits: value = (quantized − zero point) × scale. The last block of a
 * row is padded with zeros.
 */
export interface BlockMatrix {
  /** `[rows, blocks, block × bits / 8]`; with 4 bits two weights per byte, the first in the low half. */
  readonly values: Uint8Array;
  /** `[rows, blocks]`. */
  readonly scales: Float32Array;
  /** `[rows, ⌈blocks / 2⌉]`: two per byte. */
  readonly zeroPoints?: Uint8Array;
}

/** Sets the 4-bit number at `index`. */
export function setHalf(bytes: Uint8Array, index: number, value: number): void {
  const byte = bytes[index >> 1]!;
  bytes[index >> 1] = index & 1 ? (byte & 0x0f) | (value << 4) : (byte & 0xf0) | value;
}

/** Reads the 4-bit number at `index`. */
export const halfAt = (bytes: Uint8Array, index: number): number =>
  (bytes[index >> 1]! >> ((index & 1) * 4)) & 0x0f;

/** The format of 4-bit weights in a checkpoint. */
export interface Packing {
  readonly method: 'gptq' | 'awq';
  /** Offset to add to stored zero points; GPTQ's first format stores them minus one. */
  readonly zeroOffset: 0 | 1;
  /** GPTQ with `desc_act`: `g_idx` names the group of each input, so that the inputs of a group are not contiguous. */
  readonly isReordered: boolean;
}

const packingSchema = z.looseObject({
  quant_method: z.string().default('unknown'),
  bits: z.int().optional(),
  desc_act: z.boolean().default(false),
  checkpoint_format: z.string().default('gptq'),
  version: z.string().default('gemm'),
});

/** Reads the `quantization_config` of a config.json. Returns the name of an unsupported feature as a text. */
export function readPacking(stored: unknown): Packing | string {
  const { data } = packingSchema.safeParse(stored);
  const method = data?.quant_method;
  if (!data || (method !== 'gptq' && method !== 'awq')) return `quantization_config of "${method}"`;
  if (data.bits !== 4) return `quantization_config of ${method} with ${data.bits} bits`;
  const form = method === 'gptq' ? data.checkpoint_format : data.version.toLowerCase();
  if (!['gptq', 'gptq_v2', 'gemm'].includes(form))
    return `quantization_config of ${method} in the form "${form}"`;
  return {
    method,
    zeroOffset: method === 'gptq' && form === 'gptq' ? 1 : 0,
    isReordered: method === 'gptq' && data.desc_act,
  };
}

/** True for tensors of packed weights that are not always read. */
export const isPackedDetail = (name: string): boolean => name.endsWith('.g_idx');

/** Nibbles of a word in which AWQ stores the outputs 0 … 7. */
const awqNibbles = [0, 4, 1, 5, 2, 6, 3, 7];
const perWord = 8;

const nibble = (word: number, index: number): number => (word >>> (index * 4)) & 15;

/** Returns the levels `[rows, columns]`, two a byte, of words `[columns, rows ÷ 8]`. */
function levelsOfAwq(words: Int32Array, rows: number, columns: number): Uint8Array {
  const values = new Uint8Array((rows * columns) / 2);
  const lineWords = rows / perWord;
  const rowBytes = columns / 2;
  for (let word = 0; word < lineWords; word++)
    for (let byte = 0; byte < rowBytes; byte++) {
      const low = words[2 * byte * lineWords + word]!;
      const high = words[(2 * byte + 1) * lineWords + word]!;
      for (let row = 0; row < perWord; row++) {
        const shift = awqNibbles[row]! * 4;
        const place = (word * perWord + row) * rowBytes + byte;
        values[place] = ((low >>> shift) & 15) | (((high >>> shift) & 15) << 4);
      }
    }
  return values;
}

/**
 * Returns the weight of the layer `layer` whose 4-bit values are packed as by GPTQ or AWQ. The matrix also has
 * blocks if its groups are contiguous inputs of a size that the operator supports.
 */
export function packedMatrix(reader: SafetensorsReader, layer: string, packing: Packing): Matrix {
  const packed = new PackedWeight(reader, layer, packing);
  const { rows, columns, block } = packed;
  return {
    name: `${layer}.weight`,
    rows,
    columns,
    read: () => packed.dequantize(),
    ...(block && {
      blocks: { format: { bits: 4, block, zeroPoints: true } as const, read: () => packed.toBlocks(block) },
    }),
  };
}

class PackedWeight {
  readonly rows: number;
  readonly columns: number;
  private readonly groups: number;

  constructor(
    private readonly reader: SafetensorsReader,
    private readonly layer: string,
    private readonly packing: Packing,
  ) {
    const [words = 0] = reader.shape(`${layer}.qweight`);
    const [groups = 0, rows = 0] = reader.shape(`${layer}.scales`);
    reader.shape(`${layer}.qzeros`);
    this.rows = rows;
    this.groups = groups;
    this.columns = packing.method === 'gptq' ? words * perWord : words;
  }

  /** Size of the operator's blocks: the group, or 128 for longer groups, which are split; else undefined. */
  get block(): BlockFormat['block'] | undefined {
    const group = this.columns / this.groups;
    if (this.packing.isReordered) return undefined;
    return [32, 64, 128].find((size) => size === group) ?? (group % 128 === 0 ? 128 : undefined);
  }

  async toBlocks(block: number): Promise<BlockMatrix> {
    const { rows, columns, groups } = this;
    const { words, isAwq, zeroPoint, scale } = await this.unpack();
    const blocks = columns / block;
    const values = isAwq
      ? levelsOfAwq(words, rows, columns)
      : new Uint8Array(transpose(words, columns / perWord, rows).buffer);
    const scales = new Float32Array(rows * blocks);
    const zeroPoints = new Uint8Array(rows * Math.ceil(blocks / 2));
    for (let row = 0; row < rows; row++) {
      for (let index = 0; index < blocks; index++) {
        const group = Math.floor((index * groups) / blocks);
        scales[row * blocks + index] = scale(row, group);
        setHalf(zeroPoints, row * Math.ceil(blocks / 2) * 2 + index, zeroPoint(row, group));
      }
    }
    return { values, scales, zeroPoints };
  }

  async dequantize(): Promise<Float32Array> {
    const { rows, columns, groups, reader, layer } = this;
    const { level, zeroPoint, scale } = await this.unpack();
    const order = this.packing.isReordered ? await reader.readInt32(`${layer}.g_idx`) : undefined;
    const values = new Float32Array(rows * columns);
    for (let row = 0; row < rows; row++)
      for (let column = 0; column < columns; column++) {
        const group = order ? order[column]! : Math.floor((column * groups) / columns);
        values[row * columns + column] = (level(row, column) - zeroPoint(row, group)) * scale(row, group);
      }
    return values;
  }

  /** Returns functions that look up a value, a zero point and a scale in the packed tensors. */
  private async unpack() {
    const { rows, reader, layer, packing } = this;
    const words = await reader.readInt32(`${layer}.qweight`);
    const zeros = await reader.readInt32(`${layer}.qzeros`);
    const scales = await reader.readFloat32(`${layer}.scales`);
    const isAwq = packing.method === 'awq';
    /** Returns a nibble of a tensor that packs eight outputs per word. */
    const byRow = (packed: Int32Array, line: number, row: number): number =>
      nibble(packed[(line * rows + row) >> 3]!, isAwq ? awqNibbles[row % perWord]! : row % perWord);
    return {
      words,
      isAwq,
      level: (row: number, column: number): number =>
        isAwq ? byRow(words, column, row) : nibble(words[(column >> 3) * rows + row]!, column % perWord),
      zeroPoint: (row: number, group: number): number => (byRow(zeros, group, row) + packing.zeroOffset) & 15,
      scale: (row: number, group: number): number => scales[group * rows + row]!,
    };
  }
}
