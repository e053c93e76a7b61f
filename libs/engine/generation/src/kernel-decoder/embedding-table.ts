import type { OnnxTensors, DecoderShape } from '#engine/onnx-compiler';
import type { KernelMemory } from './kernels.js';
import { stripeBytes, type PackedLayer } from './packed-layer.js';

/** The embeddings of tokens in the memory of the kernels. */
export interface EmbeddingTable {
  /** Writes the embedding of a token, as many floats as the model is wide. */
  read(token: number, target: Float32Array): void;
}

const table = 'model.embed_tokens.weight';

/** Opens the table of a decoder: the packed output layer where it is the same matrix, otherwise rows of its own. */
export async function openEmbeddings(
  tensors: OnnxTensors,
  { tiedEmbeddings, vocabularySize, hiddenSize }: DecoderShape,
  memory: KernelMemory,
  head: PackedLayer,
): Promise<EmbeddingTable> {
  const isBlocks = tensors.has(`${table}.bits8`);
  const scales = memory.floatsOf(
    await tensors.floats(isBlocks ? `${table}.scales` : `${table}.table.scales`),
  );
  if (tiedEmbeddings) return isBlocks ? packedBlocks(memory, head) : packedRows(memory, head, scales);
  const source = isBlocks ? `${table}.bits8` : `${table}.table.int8`;
  const [, blocks = 1, block = hiddenSize] = isBlocks ? tensors.shape(source) : [];
  const rowBytes = blocks * block;
  const values = memory.allocate(vocabularySize * rowBytes);
  await tensors.read(source, memory.bytes(values, vocabularySize * rowBytes));
  return storedRows(memory, { values, scales, blocks, block, flip: isBlocks ? 0 : 128 });
}

/** Scales of rows, numbers of a packed matrix with a scale for each row: those of the head are divided by levels. */
function packedRows(memory: KernelMemory, head: PackedLayer, scales: number): EmbeddingTable {
  return {
    read(token, target) {
      const scale = memory.allFloats[scales / 4 + token]!;
      const stripe = head.weights + Math.floor(token / 4) * stripeBytes(head) + 16 + (token % 4) * 8;
      const bytes = memory.bytes(stripe, 4 * head.columns - 24);
      for (let index = 0; index < head.columns; index++)
        target[index] = (bytes[(index >> 3) * 32 + (index & 7)]! - 128) * scale;
    },
  };
}

/** A packed matrix in blocks: each has the scales of four rows before its numbers. */
function packedBlocks(memory: KernelMemory, head: PackedLayer): EmbeddingTable {
  const { columns, block } = head;
  return {
    read(token, target) {
      const row = token % 4;
      let place = head.weights + Math.floor(token / 4) * stripeBytes(head);
      for (let first = 0; first < columns; first += block) {
        const count = Math.min(block, columns - first);
        const scale = memory.allFloats[place / 4 + row]!;
        const bytes = memory.bytes(place + 16, 4 * count);
        for (let index = 0; index < count; index++)
          target[first + index] = (bytes[(index >> 3) * 32 + row * 8 + (index & 7)]! - 128) * scale;
        place += 16 + 4 * count;
      }
    },
  };
}

interface StoredRows {
  readonly values: number;
  readonly scales: number;
  /** Blocks of a row, and their columns. */
  readonly blocks: number;
  readonly block: number;
  /** 128 for int8, 0 for numbers around 128. */
  readonly flip: number;
}

/** Rows as the graph has them. */
function storedRows(
  memory: KernelMemory,
  { values, scales, blocks, block, flip }: StoredRows,
): EmbeddingTable {
  const rowBytes = blocks * block;
  return {
    read(token, target) {
      const bytes = memory.bytes(values + token * rowBytes, rowBytes);
      const floats = memory.allFloats;
      const first = scales / 4 + token * blocks;
      for (let index = 0; index < target.length; index++)
        target[index] = ((bytes[index]! ^ flip) - 128) * floats[first + Math.floor(index / block)]!;
    },
  };
}
