import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { safetensors, zeros, type NamedTensors } from './safetensors.js';

const width = 16;
const longest = 32;
const marks = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]'];

/**
 * Writes a folder with a BERT classifier built by hand: the label of a word is sure where the word is in the text, and
 * unlikely where it is not. Labels stand alone (`multi_label_classification`); at most 32 tokens. For tests of what lies
 * around a model.
 *
 * Every word moves an axis of its own; attention takes the mean over the text, into which the first token looks, and the
 * head reads the axes.
 */
export async function writeWordClassifier(
  directory: string,
  labelOfWord: Readonly<Record<string, string>>,
): Promise<void> {
  await mkdir(directory, { recursive: true });
  const json = (file: string, value: unknown) => writeFile(join(directory, file), JSON.stringify(value));
  const words = Object.keys(labelOfWord);
  const labels = Object.values(labelOfWord);
  const vocabulary = [...marks, ...words];
  await json('config.json', {
    architectures: ['BertForSequenceClassification'],
    model_type: 'bert',
    vocab_size: vocabulary.length,
    hidden_size: width,
    num_hidden_layers: 1,
    num_attention_heads: 2,
    intermediate_size: width,
    max_position_embeddings: longest,
    type_vocab_size: 2,
    pad_token_id: 0,
    id2label: Object.fromEntries(labels.map((label, index) => [index, label])),
    problem_type: 'multi_label_classification',
  });
  await json('tokenizer_config.json', {
    tokenizer_class: 'BertTokenizer',
    do_lower_case: true,
    model_max_length: longest,
  });
  await json('tokenizer.json', tokenizer(vocabulary));
  await writeFile(
    join(directory, 'model.safetensors'),
    safetensors(tensors(vocabulary.length, words.length)),
  );
}

function tensors(vocabulary: number, words: number): NamedTensors {
  const embeddings = zeros(vocabulary, width);
  const put = (row: number, column: number, value: number) => {
    embeddings.values[row * width + column] = value;
  };
  // Axes 0 and 1 are of what says nothing; word n has the two axes behind them, up and down so that the mean stays zero.
  for (let id = 0; id < vocabulary; id++) {
    const axis = id < marks.length ? 0 : 2 * (id - marks.length + 1);
    put(id, axis, 1);
    put(id, axis + 1, -1);
  }
  const head = zeros(words, width);
  for (let word = 0; word < words; word++) head.values[word * width + 2 * (word + 1)] = 16;
  const layer = 'bert.encoder.layer.0';
  return {
    'bert.embeddings.word_embeddings.weight': embeddings,
    'bert.embeddings.position_embeddings.weight': zeros(longest, width),
    'bert.embeddings.token_type_embeddings.weight': zeros(2, width),
    ...norm('bert.embeddings.LayerNorm'),
    // Queries and keys of zeros look at all tokens alike.
    ...dense(`${layer}.attention.self.query`, 0),
    ...dense(`${layer}.attention.self.key`, 0),
    ...dense(`${layer}.attention.self.value`, 1),
    ...dense(`${layer}.attention.output.dense`, 1),
    ...norm(`${layer}.attention.output.LayerNorm`),
    ...dense(`${layer}.intermediate.dense`, 0),
    ...dense(`${layer}.output.dense`, 0),
    ...norm(`${layer}.output.LayerNorm`),
    ...dense('bert.pooler.dense', 100),
    'classifier.weight': head,
    'classifier.bias': { shape: [words], values: new Float32Array(words).fill(-8) },
  };
}

/** A square layer that multiplies by a number. */
function dense(name: string, factor: number): NamedTensors {
  const weight = zeros(width, width);
  for (let row = 0; row < width; row++) weight.values[row * width + row] = factor;
  return { [`${name}.weight`]: weight, [`${name}.bias`]: zeros(width) };
}

function norm(name: string): NamedTensors {
  const scale = { shape: [width], values: new Float32Array(width).fill(1) };
  return { [`${name}.weight`]: scale, [`${name}.bias`]: zeros(width) };
}

/** Whole words only; whatever is not in the vocabulary is unknown. */
function tokenizer(vocabulary: readonly string[]) {
  const special = (id: string) => ({ SpecialToken: { id, type_id: 0 } });
  const sequence = (id: string) => ({ Sequence: { id, type_id: 0 } });
  const token = (id: string) => ({ id, ids: [marks.indexOf(id)], tokens: [id] });
  const flags = { single_word: false, lstrip: false, rstrip: false, normalized: false, special: true };
  return {
    version: '1.0',
    added_tokens: marks.map((content, id) => ({ id, content, ...flags })),
    normalizer: {
      type: 'BertNormalizer',
      clean_text: true,
      handle_chinese_chars: true,
      strip_accents: null,
      lowercase: true,
    },
    pre_tokenizer: { type: 'BertPreTokenizer' },
    post_processor: {
      type: 'TemplateProcessing',
      single: [special('[CLS]'), sequence('A'), special('[SEP]')],
      pair: [special('[CLS]'), sequence('A'), special('[SEP]'), sequence('B'), special('[SEP]')],
      special_tokens: { '[CLS]': token('[CLS]'), '[SEP]': token('[SEP]') },
    },
    decoder: { type: 'WordPiece', prefix: '##', cleanup: true },
    model: {
      type: 'WordPiece',
      unk_token: '[UNK]',
      continuing_subword_prefix: '##',
      max_input_chars_per_word: 100,
      vocab: Object.fromEntries(vocabulary.map((word, id) => [word, id])),
    },
  };
}
