import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import {
  type FixtureTensors,
  writeCheckpoint,
} from '../../../onnx-compiler/src/checkpoint/checkpoint.fixture.js';
import {
  type ReferenceVisionConfig,
  smallVision,
  visionTensors,
} from '../../../onnx-compiler/src/vision/reference-vision.fixture.js';

/** Characters that stand for bytes in vocabularies of byte-level BPE. */
const printable = new Set([...range(0x21, 0x7e), ...range(0xa1, 0xac), ...range(0xae, 0xff)]);
const others = range(0, 255).filter((byte) => !printable.has(byte));
const byteCharacters = range(0, 255).map((byte) =>
  String.fromCodePoint(printable.has(byte) ? byte : 256 + others.indexOf(byte)),
);

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

const special = [
  '<|im_start|>',
  '<end_of_utterance>',
  '<fake_token_around_image>',
  '<image>',
  '<global-img>',
  '<row_1_col_1>',
  '<row_1_col_2>',
  '<row_2_col_1>',
  '<row_2_col_2>',
];

/** The vocabulary: bytes, then control tokens. */
const vocabulary = [...byteCharacters, ...special];

/** Returns the ids of a text with control tokens in it, by the simplest means. */
export function idsOf(text: string): number[] {
  const pattern = new RegExp(`(${special.map((name) => name.replaceAll('|', String.raw`\|`)).join('|')})`);
  return text
    .split(pattern)
    .flatMap((piece) => (special.includes(piece) ? [vocabulary.indexOf(piece)] : [...Buffer.from(piece)]));
}

/** SmolVLM's template of chats, in other words. */
const chatTemplate = [
  '<|im_start|>{% for message in messages %}{{ message["role"] | capitalize }}:',
  '{% if message["content"][0]["type"] != "image" %}{{ " " }}{% endif %}',
  '{% for part in message["content"] %}',
  '{% if part["type"] == "text" %}{{ part["text"] }}{% elif part["type"] == "image" %}{{ "<image>" }}{% endif %}',
  '{% endfor %}<end_of_utterance>\n{% endfor %}{% if add_generation_prompt %}{{ "Assistant:" }}{% endif %}',
].join('');

/** The config.json of the model. */
export const visionConfig: ReferenceVisionConfig = {
  ...smallVision,
  image_token_id: vocabulary.indexOf('<image>'),
  text_config: {
    ...smallVision.text_config,
    vocab_size: vocabulary.length + 7,
    max_position_embeddings: 1_024,
  },
};

/** How the model sees pictures: up to four tiles of 32 pixels. */
export const pictureConfig = {
  do_resize: true,
  size: { longest_edge: 64 },
  resample: 1,
  do_image_splitting: true,
  max_image_size: { longest_edge: 32 },
  rescale_factor: 1 / 255,
  image_mean: [0.5, 0.5, 0.5],
  image_std: [0.5, 0.5, 0.5],
};

/**
 * Writes a small SmolVLM of random weights with its tokenizer and its settings of pictures into a folder. Returns its
 * tensors.
 */
export async function writeVisionModel(directory: string): Promise<FixtureTensors> {
  const tensors = visionTensors(visionConfig, 3);
  const end = vocabulary.indexOf('<end_of_utterance>');
  await writeCheckpoint(directory, { ...visionConfig, eos_token_id: end }, tensors);
  const files = {
    'tokenizer.json': tokenizer(),
    'tokenizer_config.json': { tokenizer_class: 'GPT2Tokenizer', eos_token: '<end_of_utterance>' },
    'chat_template.json': { chat_template: chatTemplate },
    'preprocessor_config.json': pictureConfig,
  };
  for (const [name, content] of Object.entries(files))
    await writeFile(path.join(directory, name), JSON.stringify(content));
  return tensors;
}

function tokenizer(): object {
  const byteLevel = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true };
  const plain = { single_word: false, lstrip: false, rstrip: false, normalized: false, special: true };
  return {
    version: '1.0',
    added_tokens: special.map((content) => ({ id: vocabulary.indexOf(content), content, ...plain })),
    normalizer: null,
    pre_tokenizer: byteLevel,
    post_processor: null,
    decoder: byteLevel,
    model: {
      type: 'BPE',
      unk_token: null,
      vocab: Object.fromEntries(vocabulary.map((token, id) => [token, id])),
      merges: [],
    },
  };
}
