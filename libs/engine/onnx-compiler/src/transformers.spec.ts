import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import {
  AutoModel,
  AutoModelForCausalLM,
  AutoModelForSequenceClassification,
  env,
  Tensor,
} from '@xenova/transformers';
import { InferenceSession, Tensor as RuntimeTensor } from 'onnxruntime-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { projectRoot, testData } from '#platform/foundation';
import { randomNumbers, randomTensors, writeCheckpoint } from './checkpoint/checkpoint.fixture.js';
import { compileDecoder } from './decoder/compile-decoder.js';
import { compileEncoder } from './encoder/compile-encoder.js';
import { exportModel } from './export-model.js';
import { decodeGreedily } from './decoder/greedy-driver.fixture.js';
import { decoderShapes } from './decoder/reference-decoder.fixture.js';

const bundled = join(projectRoot, 'models');
const published = testData('models/tinystories-656k');
if (!existsSync(published)) console.warn(`${published} is absent: not compared with transformers.js.`);

let folder: string;
let cacheDir: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'meganest-transformers-'));
  cacheDir = join(folder, 'compiled');
  env.localModelPath = `${folder}/`;
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const ids = (values: readonly number[]): Tensor =>
  new Tensor('int64', BigInt64Array.from(values, BigInt), [1, values.length]);
const open = (path: string): Promise<InferenceSession> =>
  InferenceSession.create(path, { intraOpNumThreads: 1 });
const options = { dtype: 'fp32', local_files_only: true } as const;

/**
 * Continuations of prompts by greedy decoding, with the serving graph and with transformers.js on the exporters' graph.
 */
async function continuations(directory: string): Promise<{ ours: number[][]; theirs: number[][] }> {
  const name = basename(directory);
  const compiled = await compileDecoder(directory, { cacheDir, weights: 'fp32', kv: 'float' });
  await exportModel(directory, join(folder, name));
  const model = await AutoModelForCausalLM.from_pretrained(name, options);
  const random = randomNumbers(9);
  const prompts = [4, 19, 40, 70].map((length) =>
    Array.from({ length }, () => 3 + Math.floor(((random() + 1) / 2) * (compiled.vocabularySize - 3))),
  );
  const answers = await decodeGreedily(await open(compiled.onnxPath), compiled, prompts, 20);
  const theirs: number[][] = [];
  for (const prompt of prompts) {
    const inputs = { input_ids: ids(prompt), attention_mask: ids(prompt.map(() => 1)) };
    const output = (await model.generate({ ...inputs, max_new_tokens: 20, do_sample: false })) as Tensor;
    theirs.push(Array.from(output.data as BigInt64Array, Number).slice(prompt.length));
  }
  await model.dispose();
  // transformers.js ends at the end-of-text token; the driver goes on.
  return { ours: answers.map((answer, index) => answer.slice(0, theirs[index]!.length)), theirs };
}

describe.each([join(bundled, 'nano-chat'), published])('the decoder in %s', (directory) => {
  it.skipIf(!existsSync(directory))(
    'continues prompts like transformers.js on the same weights',
    { timeout: 60_000 },
    async () => {
      const { ours, theirs } = await continuations(directory);
      expect(ours).toEqual(theirs);
    },
  );
});

describe.each([
  {
    model_type: 'smollm3',
    architectures: ['SmolLM3ForCausalLM'],
    no_rope_layers: [1, 0],
    tie_word_embeddings: true,
  },
  {
    model_type: 'granite',
    architectures: ['GraniteForCausalLM'],
    attention_multiplier: 0.2,
    embedding_multiplier: 6,
    residual_multiplier: 0.22,
    logits_scaling: 4,
    tie_word_embeddings: false,
  },
  {
    model_type: 'gemma3_text',
    architectures: ['Gemma3ForCausalLM'],
    hidden_activation: 'gelu_pytorch_tanh',
    sliding_window: 7,
    layer_types: ['sliding_attention', 'full_attention'],
    query_pre_attn_scalar: 12,
    tie_word_embeddings: true,
  },
])('a $model_type of random weights', (family) => {
  it('continues prompts like transformers.js on the same weights', { timeout: 60_000 }, async () => {
    const config = {
      ...family,
      hidden_size: 48,
      num_hidden_layers: 2,
      num_attention_heads: 6,
      num_key_value_heads: 2,
      head_dim: 8,
      intermediate_size: 64,
      vocab_size: 96,
      max_position_embeddings: 256,
      rms_norm_eps: 1e-6,
      rope_theta: 10_000,
      eos_token_id: 0,
    };
    const directory = join(folder, 'random', config.model_type);
    await writeCheckpoint(directory, config, randomTensors(decoderShapes(config), 11));
    const { ours, theirs } = await continuations(directory);
    expect(ours).toEqual(theirs);
  });
});

describe('the bundled encoders', () => {
  const text = [2, 100, 4000, 300, 17, 5500, 3];

  /** One text through a compiled graph. */
  async function compiledRow(name: string, task: 'embedding' | 'classification'): Promise<number[]> {
    const { onnxPath } = await compileEncoder(join(bundled, name), { cacheDir, task, weights: 'fp32' });
    const session = await open(onnxPath);
    const row = (values: readonly number[]): RuntimeTensor =>
      new RuntimeTensor('int64', BigInt64Array.from(values, BigInt), [1, values.length]);
    const blank = text.map(() => 0);
    const feeds = {
      input_ids: row(text),
      attention_mask: row(text.map(() => 1)),
      token_type_ids: row(blank),
    };
    return [...((await session.run(feeds))[session.outputNames[0]!]!.data as Float32Array)];
  }

  /** The same text through transformers.js: the output of that name. */
  async function exportedOutput(
    name: string,
    loader: typeof AutoModel | typeof AutoModelForSequenceClassification,
    output: string,
  ): Promise<number[]> {
    await exportModel(join(bundled, name), join(folder, name));
    const model = await loader.from_pretrained(name, options);
    const inputs = {
      input_ids: ids(text),
      attention_mask: ids(text.map(() => 1)),
      token_type_ids: ids(text.map(() => 0)),
    };
    const outputs = (await model(inputs)) as Record<string, Tensor>;
    const values = [...(outputs[output]!.data as Float32Array)];
    await model.dispose();
    return values;
  }

  const distance = (left: readonly number[], right: readonly number[]): number =>
    Math.max(...left.map((value, index) => Math.abs(value - right[index]!)));

  it('embed like transformers.js, pooled and normalized', { timeout: 60_000 }, async () => {
    const states = await exportedOutput('nano-embed', AutoModel, 'last_hidden_state');
    const width = states.length / text.length;
    const sums = Array.from({ length: width }, (_, column) =>
      text.reduce((sum, _token, row) => sum + states[row * width + column]!, 0),
    );
    const length = Math.hypot(...sums);
    const expected = sums.map((sum) => sum / length);
    expect(distance(await compiledRow('nano-embed', 'embedding'), expected)).toBeLessThan(1e-5);
  });

  it('score like transformers.js', { timeout: 60_000 }, async () => {
    const expected = await exportedOutput('nano-rerank', AutoModelForSequenceClassification, 'logits');
    expect(distance(await compiledRow('nano-rerank', 'classification'), expected)).toBeLessThan(1e-4);
  });
});
