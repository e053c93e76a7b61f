import { join } from 'node:path';
import { compileOnce } from '../compile-cache.js';
import {
  readEncoderShape,
  type EncoderShape,
  type GraphPooling,
  type ModernBertShape,
} from './encoder-config.js';
import { type EncoderGraphOptions, type EncoderHead, EncoderGraphWriter } from './encoder-graph.js';
import { detectIntegerKernel, type IntegerKernel } from '../onnx/graph-builder.js';
import type { LinearMode } from '../quantization/linear.js';
import { EncoderWeights } from './encoder-weights.js';
import { writeOnnxFile } from '../onnx/onnx-file.js';
import { ModernBertWriter, isIgnorableModernBert, ModernBertWeights } from './modernbert-graph.js';
import { withCheckpoint } from '../checkpoint/safetensors.js';

/** Options of {@link compileEncoder}. */
export interface CompileEncoderOptions {
  /** Directory of compiled models; created if missing. */
  readonly cacheDir: string;
  /**
   * `embedding`: one vector per text; `classification`: the scores of the checkpoint's classifier, for example of a
   * reranker; `tokens`: the states of all tokens, for a caller that pools them.
   */
  readonly task: EncoderHead['task'];
  readonly weights: 'fp32' | 'int8';
  /**
   * Quantization of activations with int8 weights. `tensor` (default) is faster, but the last digits of a vector
   * depend on the other texts of the batch; `row` makes it independent of them.
   */
  readonly activations?: 'tensor' | 'row';
  /** Default: the kernel of this machine. */
  readonly kernel?: IntegerKernel;
  /** With `embedding`; default mean. */
  readonly pooling?: GraphPooling;
}

/**
 * A compiled encoder. Inputs, all int64 `[B, S]`, padded at the end: `input_ids`, `attention_mask` (1 for tokens, 0
 * for padding) and `token_type_ids` (only for models with segments). Output: `sentence_embedding` float32 `[B,
 * hiddenSize]`, pooled and of unit length; or `logits` float32 `[B, classes]`; or `last_hidden_state` float32 `[B, S,
 * hiddenSize]`.
 */
export interface CompiledEncoder {
  readonly onnxPath: string;
  readonly task: EncoderHead['task'];
  readonly hiddenSize: number;
  readonly vocabularySize: number;
  /** Maximum tokens of an input. */
  readonly contextLength: number;
  readonly weights: 'fp32' | 'int8';
  /** Pooling of the tokens; only with `embedding`. */
  readonly pooling?: GraphPooling;
}

/**
 * Writes the serving graph of an encoder (BERT, RoBERTa, XLM-R, CamemBERT, ModernBERT), or finds it in the cache.
 * `modelDirectory` holds config.json and safetensors. Errors: UnsupportedModelError if the architecture or one of its
 * options is unknown.
 */
export async function compileEncoder(
  modelDirectory: string,
  options: CompileEncoderOptions,
): Promise<CompiledEncoder> {
  const { task, pooling = 'mean' } = options;
  const head: EncoderHead = task === 'embedding' ? { task, pooling } : { task };
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

/** Reads a model directory and writes its graph as `model.onnx` into `target`; returns the model's shape. */
export async function writeEncoderGraph(
  modelDirectory: string,
  target: string,
  options: EncoderGraphOptions,
): Promise<EncoderShape | ModernBertShape> {
  const shape = await readEncoderShape(modelDirectory);
  await withCheckpoint(modelDirectory, (reader) => {
    if (shape.family === 'modernbert') {
      const weights = new ModernBertWeights(reader, shape);
      const graph = new ModernBertWriter(shape, weights, options).write();
      return { isIgnorable: isIgnorableModernBert, write: () => writeOnnxFile(target, graph) };
    }
    const weights = new EncoderWeights(reader, shape);
    const graph = new EncoderGraphWriter(shape, weights, options).write();
    return { isIgnorable: (name) => weights.isIgnorable(name), write: () => writeOnnxFile(target, graph) };
  });
  return shape;
}
