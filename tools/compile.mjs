/**
 * Compiles a model directory (config.json and safetensors) into its serving graph and prints its path.
 * Usage: npm run compile -- <directory> [--weights int8|int4|fp32] [--kv float|int8] [--pooling mean|cls] [--cache <directory>]
 */
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { compileDecoder, compileEncoder, compileSpeech } from '#engine/onnx-compiler';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    weights: { type: 'string', default: 'int8' },
    kv: { type: 'string', default: 'float' },
    pooling: { type: 'string' },
    cache: { type: 'string', default: join('.data', 'models', 'compiled') },
  },
});
const usage =
  'Usage: npm run compile -- <directory> [--weights int8|int4|fp32] [--kv float|int8] [--pooling mean|cls] [--cache <directory>]';
const [directory] = positionals;
const choices = {
  weights: ['int8', 'int4', 'fp32'],
  kv: ['float', 'int8'],
  pooling: [undefined, 'mean', 'cls'],
};
const wrong = Object.keys(choices).find((name) => !choices[name].includes(values[name]));
if (!directory || wrong) {
  console.error(wrong ? `--${wrong} ${values[wrong]} is unknown.\n${usage}` : usage);
  process.exit(2);
}

const modelDirectory = resolve(directory);
const { weights, kv, pooling, cache: cacheDir } = values;
const { architectures = [] } = JSON.parse(await readFile(join(modelDirectory, 'config.json'), 'utf8'));
const [architecture] = architectures;
try {
  if (!architecture) throw new Error(`${join(modelDirectory, 'config.json')} does not have "architectures".`);
  if (architecture.endsWith('ForCausalLM'))
    console.log(await compileDecoder(modelDirectory, { cacheDir, weights, kv }));
  else if (architecture.endsWith('ForCTC'))
    console.log(await compileSpeech(modelDirectory, { cacheDir, weights }));
  else {
    const task = architecture.endsWith('ForSequenceClassification') ? 'classification' : 'embedding';
    console.log(await compileEncoder(modelDirectory, { cacheDir, weights, task, pooling }));
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
