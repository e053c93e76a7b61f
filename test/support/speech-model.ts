import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { safetensors, zeros, type NamedTensors } from './safetensors.js';

/** Width of everything; the weights are zeros but for the last bias. */
const width = 8;

/**
 * Writes a folder with a CTC model that hears one and the same text in whatever is loud: all its weights are zeros, and
 * the bias of its output prefers that text's only unit. For tests of what lies around a model.
 */
export async function writeSpeechModel(directory: string, text: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  const json = (file: string, value: unknown) => writeFile(join(directory, file), JSON.stringify(value));
  const config = { n_mels: width, stack: [2, 3], hidden_size: width, dilations: [1], vocab_size: 2 };
  await json('config.json', { model_type: 'nano-ctc', ...config, blank_token_id: 0, languages: ['en'] });
  await json('preprocessor_config.json', { sampling_rate: 16_000, n_mels: width });
  await json('vocab.json', { '<blank>': 0, [`▁${text}`]: 1 });
  await writeFile(join(directory, 'model.safetensors'), safetensors(tensors()));
}

function tensors(): NamedTensors {
  return {
    'stem.0.weight': zeros(width, 3 * 2 * width),
    'stem.0.bias': zeros(width),
    'stem.1.weight': zeros(width, 3 * 3 * width),
    'stem.1.bias': zeros(width),
    'blocks.0.norm.weight': zeros(width),
    'blocks.0.norm.bias': zeros(width),
    'blocks.0.up.weight': zeros(width, 3 * width),
    'blocks.0.up.bias': zeros(width),
    'blocks.0.down.weight': zeros(width, width),
    'blocks.0.down.bias': zeros(width),
    'norm.weight': zeros(width),
    'norm.bias': zeros(width),
    'output.weight': zeros(2, width),
    'output.bias': { shape: [2], values: Float32Array.of(0, 4) },
  };
}
