import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { repositoryRoot } from '#platform/testing';
import { decoderShapes } from '../../libs/engine/onnx-compiler/src/decoder/reference-decoder.fixture.js';
import { writeRandomCheckpoint } from './random-checkpoint.js';
import { writeWhisperModel, type WhisperSizes } from './whisper-model.js';

/** Sizes of an encoder of BERT's family. */
export interface EncoderSizes {
  hidden: number;
  layers: number;
  heads: number;
  feedForward: number;
  vocabulary: number;
  positions: number;
}

/** Sizes of a Qwen3. */
export interface DecoderSizes extends Omit<EncoderSizes, 'positions'> {
  keyValueHeads: number;
  headDimension: number;
  context: number;
}

/** What a profile of the hub loads. */
export interface ProfileSizes {
  embedding: EncoderSizes;
  reranking: EncoderSizes;
  llm: DecoderSizes;
  asr: WhisperSizes;
}

/** The architectures of the profile `hub-small` with few and narrow layers, for tests. */
export const smallSizes: ProfileSizes = {
  embedding: { hidden: 64, layers: 2, heads: 4, feedForward: 128, vocabulary: 30_522, positions: 512 },
  reranking: { hidden: 64, layers: 2, heads: 4, feedForward: 128, vocabulary: 30_522, positions: 512 },
  llm: {
    hidden: 64,
    layers: 2,
    heads: 4,
    keyValueHeads: 2,
    headDimension: 32,
    feedForward: 128,
    vocabulary: 30_000,
    context: 4096,
  },
  asr: {
    bands: 80,
    hidden: 32,
    layers: 2,
    heads: 4,
    feedForward: 64,
    sourcePositions: 1500,
    targetPositions: 448,
    textTokens: 256,
  },
};

/** The true shapes of bge-small-en-v1.5, ms-marco-MiniLM-L6-v2, Qwen3-0.6B and whisper-base. */
export const trueSizes: ProfileSizes = {
  embedding: { hidden: 384, layers: 12, heads: 12, feedForward: 1536, vocabulary: 30_522, positions: 512 },
  reranking: { hidden: 384, layers: 6, heads: 12, feedForward: 1536, vocabulary: 30_522, positions: 512 },
  llm: {
    hidden: 1024,
    layers: 28,
    heads: 16,
    keyValueHeads: 8,
    headDimension: 128,
    feedForward: 3072,
    vocabulary: 151_936,
    context: 40_960,
  },
  asr: {
    bands: 80,
    hidden: 512,
    layers: 6,
    heads: 8,
    feedForward: 2048,
    sourcePositions: 1500,
    targetPositions: 448,
    textTokens: 50_257,
  },
};

/** Writes the four models of a profile with random weights, each into the folder of its id below `root`. */
export async function writeHubModels(
  root: string,
  ids: Readonly<Record<keyof ProfileSizes, string>>,
  sizes: ProfileSizes,
): Promise<void> {
  await writeEncoder(join(root, ids.embedding), 'nano-embed', sizes.embedding);
  await writeEncoder(join(root, ids.reranking), 'nano-rerank', sizes.reranking, 1);
  await writeDecoder(join(root, ids.llm), sizes.llm);
  await writeWhisperModel(join(root, ids.asr), sizes.asr);
}

/** A BERT; with `classes` one for sequence classification. */
async function writeEncoder(
  directory: string,
  tokenizer: string,
  { hidden, layers, heads, feedForward, vocabulary, positions }: EncoderSizes,
  classes?: number,
): Promise<void> {
  await copyTokenizer(tokenizer, directory);
  const config = {
    model_type: 'bert',
    architectures: [classes === undefined ? 'BertModel' : 'BertForSequenceClassification'],
    hidden_size: hidden,
    num_hidden_layers: layers,
    num_attention_heads: heads,
    intermediate_size: feedForward,
    vocab_size: vocabulary,
    max_position_embeddings: positions,
    type_vocab_size: 2,
    pad_token_id: 0,
    hidden_act: 'gelu',
    layer_norm_eps: 1e-12,
    ...(classes !== undefined && { id2label: { 0: 'LABEL_0' }, num_labels: classes }),
  };
  await writeFile(join(directory, 'config.json'), JSON.stringify(config));
  const prefix = classes === undefined ? '' : 'bert.';
  const shapes: Record<string, number[]> = {
    [`${prefix}embeddings.word_embeddings.weight`]: [vocabulary, hidden],
    [`${prefix}embeddings.position_embeddings.weight`]: [positions, hidden],
    [`${prefix}embeddings.token_type_embeddings.weight`]: [2, hidden],
  };
  const add = (name: string, ...shape: number[]) => {
    shapes[`${name}.weight`] = shape;
    shapes[`${name}.bias`] = shape.slice(0, 1);
  };
  add(`${prefix}embeddings.LayerNorm`, hidden);
  for (let index = 0; index < layers; index += 1) {
    const layer = `${prefix}encoder.layer.${index}`;
    for (const part of ['query', 'key', 'value']) add(`${layer}.attention.self.${part}`, hidden, hidden);
    add(`${layer}.attention.output.dense`, hidden, hidden);
    add(`${layer}.attention.output.LayerNorm`, hidden);
    add(`${layer}.intermediate.dense`, feedForward, hidden);
    add(`${layer}.output.dense`, hidden, feedForward);
    add(`${layer}.output.LayerNorm`, hidden);
  }
  add(`${prefix}pooler.dense`, hidden, hidden);
  if (classes !== undefined) add('classifier', classes, hidden);
  await writeRandomCheckpoint(directory, shapes);
}

/** A Qwen3 in two shards. */
async function writeDecoder(directory: string, sizes: DecoderSizes): Promise<void> {
  await copyTokenizer('nano-chat', directory);
  const config = {
    model_type: 'qwen3',
    architectures: ['Qwen3ForCausalLM'],
    hidden_size: sizes.hidden,
    num_hidden_layers: sizes.layers,
    num_attention_heads: sizes.heads,
    num_key_value_heads: sizes.keyValueHeads,
    head_dim: sizes.headDimension,
    intermediate_size: sizes.feedForward,
    vocab_size: sizes.vocabulary,
    max_position_embeddings: sizes.context,
    rms_norm_eps: 1e-6,
    rope_theta: 1_000_000,
    tie_word_embeddings: true,
    eos_token_id: 0,
  };
  await writeFile(join(directory, 'config.json'), JSON.stringify(config));
  await writeRandomCheckpoint(directory, decoderShapes(config), 2);
}

async function copyTokenizer(model: string, directory: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  for (const file of ['tokenizer.json', 'tokenizer_config.json'])
    await copyFile(join(repositoryRoot, 'models', model, file), join(directory, file));
}
