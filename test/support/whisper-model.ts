import { mkdir, open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Sizes of a Whisper model; the rest follows from them. */
export interface WhisperSizes {
  bands: number;
  hidden: number;
  layers: number;
  heads: number;
  feedForward: number;
  /** States of the encoder; a window of audio lasts 20 ms for each. */
  sourcePositions: number;
  targetPositions: number;
  /** Tokens of text, at least the 256 bytes. */
  textTokens: number;
}

export interface WhisperModelOptions {
  /** Of the random numbers. */
  seed?: number;
  /** Added to the scores of tokens (by a direction that the last layer adds to every state). */
  preferred?: Readonly<Record<string, number>>;
  /** Multiplies the scores of everything else; text of random weights is improbable otherwise. Default 1. */
  confidence?: number;
}

export const tinyWhisper: WhisperSizes = {
  bands: 8,
  hidden: 32,
  layers: 2,
  heads: 4,
  feedForward: 64,
  sourcePositions: 50,
  targetPositions: 48,
  textTokens: 256,
};

const languages = ['en', 'de', 'fr'];
const marks = [
  '<|endoftext|>',
  '<|startoftranscript|>',
  ...languages.map((language) => `<|${language}|>`),
  '<|translate|>',
  '<|transcribe|>',
  '<|startoflm|>',
  '<|startofprev|>',
  '<|nospeech|>',
  '<|notimestamps|>',
];

/** Ids of the marks, by name. */
export function whisperMarks({ textTokens }: WhisperSizes): Record<string, number> {
  return Object.fromEntries(marks.map((mark, index) => [mark, textTokens + index]));
}

/**
 * Writes a folder with a Whisper model of random weights, as the hub lays such models out: config, generation settings,
 * tokenizer, preprocessor, safetensors. For tests and benchmarks of what runs the model.
 */
export async function writeWhisperModel(
  directory: string,
  sizes: WhisperSizes,
  options: WhisperModelOptions = {},
): Promise<void> {
  await mkdir(directory, { recursive: true });
  const json = (file: string, value: unknown) => writeFile(join(directory, file), JSON.stringify(value));
  const id = whisperMarks(sizes);
  const vocabularySize = sizes.textTokens + marks.length + sizes.sourcePositions + 1;
  const common = {
    decoder_start_token_id: id['<|startoftranscript|>'],
    eos_token_id: id['<|endoftext|>'],
    bos_token_id: id['<|endoftext|>'],
    pad_token_id: id['<|endoftext|>'],
  };
  await json('config.json', { ...modelConfig(sizes, vocabularySize), ...common });
  await json('generation_config.json', {
    ...common,
    is_multilingual: true,
    lang_to_id: Object.fromEntries(languages.map((code) => [`<|${code}|>`, id[`<|${code}|>`]])),
    task_to_id: { transcribe: id['<|transcribe|>'], translate: id['<|translate|>'] },
    no_timestamps_token_id: id['<|notimestamps|>'],
    prev_sot_token_id: id['<|startofprev|>'],
    max_initial_timestamp_index: sizes.sourcePositions,
    max_length: sizes.targetPositions,
    return_timestamps: false,
    begin_suppress_tokens: [32, id['<|endoftext|>']],
    suppress_tokens: marks.slice(1, -1).map((mark) => id[mark]),
    alignment_heads: [
      [sizes.layers - 1, 0],
      [sizes.layers - 1, sizes.heads - 1],
    ],
  });
  await json('preprocessor_config.json', preprocessorConfig(sizes));
  await json('tokenizer.json', tokenizer(sizes));
  await json('tokenizer_config.json', { tokenizer_class: 'WhisperTokenizer', model_max_length: 1024 });
  await writeTensors(directory, sizes, vocabularySize, options);
}

function modelConfig(sizes: WhisperSizes, vocabularySize: number) {
  return {
    model_type: 'whisper',
    architectures: ['WhisperForConditionalGeneration'],
    is_encoder_decoder: true,
    num_mel_bins: sizes.bands,
    d_model: sizes.hidden,
    encoder_layers: sizes.layers,
    decoder_layers: sizes.layers,
    num_hidden_layers: sizes.layers,
    encoder_attention_heads: sizes.heads,
    decoder_attention_heads: sizes.heads,
    encoder_ffn_dim: sizes.feedForward,
    decoder_ffn_dim: sizes.feedForward,
    max_source_positions: sizes.sourcePositions,
    max_target_positions: sizes.targetPositions,
    vocab_size: vocabularySize,
    activation_function: 'gelu',
    scale_embedding: false,
    median_filter_width: 7,
  };
}

function preprocessorConfig({ bands, sourcePositions }: WhisperSizes) {
  return {
    feature_extractor_type: 'WhisperFeatureExtractor',
    processor_class: 'WhisperProcessor',
    feature_size: bands,
    sampling_rate: 16_000,
    hop_length: 160,
    n_fft: 400,
    chunk_length: sourcePositions / 50,
    n_samples: sourcePositions * 320,
    nb_max_frames: sourcePositions * 2,
    padding_value: 0,
  };
}

/** Bytes are tokens, by GPT-2's letters for them; further tokens of text are fillers. */
function tokenizer({ textTokens, sourcePositions }: WhisperSizes) {
  const letters = byteLetters();
  const fillers = Array.from({ length: textTokens - letters.length }, (_, index) => `Ġ${index.toString(36)}`);
  const vocabulary = [...letters, ...fillers, ...marks];
  const times = Array.from({ length: sourcePositions + 1 }, (_, step) => `<|${(step * 0.02).toFixed(2)}|>`);
  const added = (content: string, id: number, special: boolean) => ({
    id,
    content,
    special,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
  });
  return {
    version: '1.0',
    added_tokens: [
      ...marks.map((mark, index) => added(mark, textTokens + index, true)),
      ...times.map((time, index) => added(time, textTokens + marks.length + index, false)),
    ],
    normalizer: null,
    pre_tokenizer: { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true },
    post_processor: null,
    decoder: { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true },
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: '',
      end_of_word_suffix: '',
      fuse_unk: false,
      vocab: Object.fromEntries(vocabulary.map((token, index) => [token, index])),
      merges: [],
    },
  };
}

function byteLetters(): string[] {
  let next = 256;
  const isVisible = (byte: number) => (byte > 32 && byte < 127) || (byte > 160 && byte !== 173);
  return Array.from({ length: 256 }, (_, byte) => String.fromCodePoint(isVisible(byte) ? byte : next++));
}

interface TensorShape {
  name: string;
  shape: number[];
}

function* tensorShapes(sizes: WhisperSizes, vocabularySize: number): Generator<TensorShape> {
  const { bands, hidden, layers, feedForward, sourcePositions, targetPositions } = sizes;
  const linear = function* (name: string, rows: number, columns: number, bias = true) {
    yield { name: `${name}.weight`, shape: [rows, columns] };
    if (bias) yield { name: `${name}.bias`, shape: [rows] };
  };
  const norm = function* (name: string) {
    yield { name: `${name}.weight`, shape: [hidden] };
    yield { name: `${name}.bias`, shape: [hidden] };
  };
  for (const [conv, inputs] of [
    ['conv1', bands],
    ['conv2', hidden],
  ] as const) {
    yield { name: `model.encoder.${conv}.weight`, shape: [hidden, inputs, 3] };
    yield { name: `model.encoder.${conv}.bias`, shape: [hidden] };
  }
  yield { name: 'model.encoder.embed_positions.weight', shape: [sourcePositions, hidden] };
  yield { name: 'model.decoder.embed_positions.weight', shape: [targetPositions, hidden] };
  yield { name: 'model.decoder.embed_tokens.weight', shape: [vocabularySize, hidden] };
  for (const part of ['encoder', 'decoder']) {
    yield* norm(`model.${part}.layer_norm`);
    for (let index = 0; index < layers; index++) {
      const layer = `model.${part}.layers.${index}`;
      for (const attention of part === 'encoder' ? ['self_attn'] : ['self_attn', 'encoder_attn']) {
        yield* norm(`${layer}.${attention}_layer_norm`);
        for (const name of ['q_proj', 'k_proj', 'v_proj', 'out_proj'])
          yield* linear(`${layer}.${attention}.${name}`, hidden, hidden, name !== 'k_proj');
      }
      yield* norm(`${layer}.final_layer_norm`);
      yield* linear(`${layer}.fc1`, feedForward, hidden);
      yield* linear(`${layer}.fc2`, hidden, feedForward);
    }
  }
}

/** The format of Hugging Face: length of the header, header, values; tensor by tensor, as models may be large. */
async function writeTensors(
  directory: string,
  sizes: WhisperSizes,
  vocabularySize: number,
  { seed = 1, preferred = {}, confidence = 1 }: WhisperModelOptions,
): Promise<void> {
  const shapes = [...tensorShapes(sizes, vocabularySize)];
  const sizeOf = ({ shape }: TensorShape) => shape.reduce((product, size) => product * size, 1);
  let place = 0;
  const header = Object.fromEntries(
    shapes.map((tensor) => {
      const start = place;
      place += 4 * sizeOf(tensor);
      return [tensor.name, { dtype: 'F32', shape: tensor.shape, data_offsets: [start, place] }];
    }),
  );
  const text = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  const file = await open(join(directory, 'model.safetensors'), 'w');
  await file.writeFile(Buffer.concat([length, text]));
  const random = randomNumbers(seed);
  const favor = favoring(sizes, preferred, confidence);
  for (const tensor of shapes) {
    const spread = spreadOf(tensor);
    const isScale = tensor.name.endsWith('norm.weight');
    const values = Float32Array.from({ length: sizeOf(tensor) }, () => (isScale ? 1 : 0) + spread * random());
    favor(tensor.name, values);
    await file.writeFile(new Uint8Array(values.buffer));
  }
  await file.close();
}

/** Matrices keep the size of what they multiply; tokens weigh less than the layers, or each would follow itself. */
function spreadOf({ name, shape }: TensorShape): number {
  if (name.includes('embed_tokens')) return 1.7 / Math.sqrt(shape.at(-1)!);
  // Where a token stands counts much, or text would go round in circles.
  if (name.includes('embed_positions')) return name.includes('decoder') ? 3 : 0.5;
  if (shape.length === 1) return 0.1;
  return 3 / Math.sqrt(shape.slice(1).reduce((product, size) => product * size, 1));
}

/** The first dimension of every final state becomes 4, and of tokens' vectors what they are preferred by. */
function favoring(
  { hidden, ...sizes }: WhisperSizes,
  preferred: NonNullable<WhisperModelOptions['preferred']>,
  confidence: number,
) {
  const ids = whisperMarks({ hidden, ...sizes });
  const entries = Object.entries(preferred);
  return (name: string, values: Float32Array): void => {
    if (name === 'model.decoder.layer_norm.weight')
      for (let index = 0; index < hidden; index++) values[index]! *= confidence;
    if (entries.length === 0) return;
    if (name === 'model.decoder.layer_norm.weight') values[0] = 0;
    if (name === 'model.decoder.layer_norm.bias') values[0] = 4;
    if (name !== 'model.decoder.embed_tokens.weight') return;
    for (let row = 0; row * hidden < values.length; row++) values[row * hidden] = 0;
    for (const [token, score] of entries) values[(ids[token] ?? Number(token)) * hidden] = score / 4;
  };
}

/** Pseudo-random numbers in −1…1 that are the same in every run. */
function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 31 - 1;
  };
}
