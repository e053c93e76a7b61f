import { join } from 'node:path';
import { compileOnce } from '../compile-cache.js';
import { type GraphPooling, readGraphPooling } from './encoder-config.js';
import type { EncoderGraphOptions, EncoderHead } from './encoder-graph.js';
import { detectIntegerKernel } from '../onnx/detect-integer-kernel.js';
import type { IntegerKernel } from '../onnx/integer-kernel.js';
import type { LinearMode } from '../onnx/linear.js';
import { writeEncoderGraph } from './write-encoder-graph.js';

export interface CompileEncoderOptions {
  /** Where compiled models are kept; made when absent. */
  readonly cacheDir: string;
  /** `embedding`: one vector a text; `classification`: the scores of the checkpoint's classifier, as rerankers have. */
  readonly task: 'embedding' | 'classification';
  readonly weights: 'fp32' | 'int8';
  /**
   * With int8 weights: how activations are quantised. `tensor` (default) is faster, and a text's vector depends in its last
   * digits on the texts beside it; `row` makes it independent of them.
   */
  readonly activations?: 'tensor' | 'row';
  /** Default: what this machine has. */
  readonly kernel?: IntegerKernel;
  /** With `embedding`: default what the model's 1_Pooling/config.json says, otherwise mean. */
  readonly pooling?: GraphPooling;
}

/**
 * A compiled encoder. Inputs, all int64 `[B, S]`, padded at the end: `input_ids`, `attention_mask` (1 for tokens, 0 for
 * padding) and, for models with segments only, `token_type_ids`. Output: `sentence_embedding` float32
 * `[B, hiddenSize]`, pooled and of unit length; or `logits` float32 `[B, classes]`.
 */
export interface CompiledEncoder {
  readonly onnxPath: string;
  readonly task: 'embedding' | 'classification';
  readonly hiddenSize: number;
  readonly vocabularySize: number;
  /** Most tokens of an input. */
  readonly contextLength: number;
  readonly weights: 'fp32' | 'int8';
  /** How tokens are pooled; absent for classification. */
  readonly pooling?: GraphPooling;
}

/**
 * Writes the serving graph of a BERT-shaped model (BERT, RoBERTa, XLM-R, CamemBERT), or finds it in the cache.
 * `modelDirectory` holds config.json and safetensors.
 * Throws UnsupportedModelError when the architecture or one of its options is not known.
 */
export async function compileEncoder(
  modelDirectory: string,
  options: CompileEncoderOptions,
): Promise<CompiledEncoder> {
  const head: Exclude<EncoderHead, { task: 'tokens' }> =
    options.task === 'classification'
      ? { task: 'classification' }
      : { task: 'embedding', pooling: options.pooling ?? (await readGraphPooling(modelDirectory)) };
  const linear = linearMode(options);
  const kernel = linear === 'fp32' ? 'exact' : (options.kernel ?? (await detectIntegerKernel()));
  const graph: EncoderGraphOptions = { linear, kernel, head };
  const { directory, description } = await compileOnce(
    modelDirectory,
    options.cacheDir,
    { kind: 'encoder', ...graph },
    (target) => writeEncoder(modelDirectory, target, graph),
  );
  return { onnxPath: join(directory, 'model.onnx'), ...description, ...head, weights: options.weights };
}

function linearMode({ weights, activations = 'tensor' }: CompileEncoderOptions): LinearMode {
  return weights === 'fp32' ? 'fp32' : `int8-${activations}`;
}

async function writeEncoder(
  modelDirectory: string,
  target: string,
  options: EncoderGraphOptions,
): Promise<Omit<CompiledEncoder, 'onnxPath' | 'weights' | 'task' | 'pooling'>> {
  const { hiddenSize, vocabularySize, contextLength } = await writeEncoderGraph(
    modelDirectory,
    target,
    options,
  );
  return { hiddenSize, vocabularySize, contextLength };
}
