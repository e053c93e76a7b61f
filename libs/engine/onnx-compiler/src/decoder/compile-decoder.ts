import { join } from 'node:path';
import { mkdir } from 'node:fs/promises';
import { ExternalKvAttention, type KvPrecision } from './external-kv-attention.js';
import { type Compiled, compileOnce, findCompiled } from '../compile-cache.js';
import { detectIntegerKernel, type IntegerKernel } from '../onnx/graph-builder.js';
import { ConcatKvAttention } from './concat-kv-attention.js';
import { type DecoderShape, readDecoderShape } from './decoder-config.js';
import { DecoderGraphWriter, type DecoderGraphOptions, DecoderWeights } from './decoder-graph.js';
import { writeOnnxFile } from '../onnx/onnx-file.js';
import type { WeightBlock } from '../quantization/blocks.js';
import type { LinearMode } from '../quantization/linear.js';
import { isPackedDetail } from '../checkpoint/matrix.js';
import { hasRowScales, type SafetensorsReader, withCheckpoint } from '../checkpoint/safetensors.js';
import { isVisionTensor } from '../vision/vision-graph.js';

/** Precision of a decoder's weights. */
export type WeightPrecision = 'fp32' | 'int8' | 'int4';

/** Options of {@link compileDecoder}. */
export interface CompileDecoderOptions {
  /** Directory of compiled models; created if missing. */
  readonly cacheDir: string;
  /**
   * `int8`, `int4`: one scale per block of weights, activations quantized block by block; with `int4`, queries, keys, values,
   * embeddings and output layer in 8 bits.
   */
  readonly weights: WeightPrecision;
  /**
   * Weights that share a scale; `row` with `int8` only: a whole output, and activations row by row. Default: 32, or `row`
   * for a checkpoint that stores int8 with a scale per row, which is then not rounded again.
   */
  readonly block?: WeightBlock;
  /** `int8`: a KV cache of a quarter of the size, faster from about 256 positions on. */
  readonly kv: KvPrecision;
  /** Default: the kernel of this machine. */
  readonly kernel?: IntegerKernel;
}

/**
 * A compiled decoder. The caller owns the KV cache: per layer a key tensor and a value tensor for `capacity`
 * positions of `batch` sequences. A run reads them without a copy and returns only the new keys and values; the
 * caller writes them after each sequence's past.
 *
 * Inputs (B sequences, S new tokens each, C = capacity, H = kvHeads, D = headDim):
 * - `input_ids` int64 `[B, S]`; shorter sequences are padded at the end with any valid token;
 * - `past_lengths` int64 `[B]`: cached positions of each sequence; its new tokens follow from there;
 * - `logit_positions` int64 `[N]`: flat indexes (`sequence × S + token`) of the tokens whose logits are requested;
 * - `past_key_values.{layer}.key`, `.value`: with `kv` float, float32 `[B, H, C, D]` both; with `kv` int8, int8
 *   keys `[B, H, D, C]` (positions last) and values `[B, H, C, D]`. Values from `past_lengths` on are ignored but must be
 *   finite;
 * - `past_scales` float32 `[B, 2 × layers × H, 1, C]`, with `kv` int8 only: of key 0, value 0, key 1, …
 * - `image_positions` int64 `[M]` and `image_embeddings` float32 `[M, imageSize]`, with `imageSize` only: flat indexes
 *   of tokens, and the vectors that replace their embeddings; M may be 0.
 *
 * Outputs:
 * - `logits` float32 `[N, vocabularySize]`;
 * - `new_kv` `[B, 2 × layers × H, S, D]`, float32 or int8: key of layer 0, value of layer 0, key of layer 1, …;
 * - `new_kv_scale` float32 `[B, 2 × layers × H, S, 1]`, with `kv` int8 only: value ≈ int8 ÷ 127 × scale.
 *
 * Invariants: C ≥ 1; every `past_lengths[b] + S` ≤ C and ≤ contextLength. If C is also a multiple of 64, the sums
 * of a sequence run in the same order for every C and B, so that with int8 weights its results are the same alone
 * and in a batch.
 */
export interface CompiledDecoder {
  readonly onnxPath: string;
  readonly layers: number;
  readonly kvHeads: number;
  readonly headDim: number;
  readonly vocabularySize: number;
  /** Maximum positions of a sequence. */
  readonly contextLength: number;
  readonly weights: WeightPrecision;
  readonly kv: KvPrecision;
  /** How the processor of the graph multiplies integers. */
  readonly kernel: IntegerKernel;
  /** The text model of a vision-language model: width of the embeddings of images. */
  readonly imageSize?: number;
}

/**
 * Writes the serving graph of a decoder with Llama's architecture (Llama, SmolLM, TinyLlama, Mistral, Qwen2,
 * Qwen2.5, Qwen3, the text model of SmolVLM), or finds it in the cache. `modelDirectory` holds config.json and safetensors. Errors:
 * UnsupportedModelError if the architecture or one of its options is unknown.
 *
 * @example
 *   import { compileDecoder } from '#engine/onnx-compiler';
 *   import assert from 'node:assert/strict';
 *   import { mkdtemp, rm } from 'node:fs/promises';
 *   import { tmpdir } from 'node:os';
 *   import { join } from 'node:path';
 *   import { InferenceSession } from 'onnxruntime-node';
 *
 *   const cacheDir = await mkdtemp(join(tmpdir(), 'decoder-'));
 *   const { onnxPath } = await compileDecoder('models/nano-chat', { cacheDir, weights: 'int8', kv: 'fp32' });
 *   const session = await InferenceSession.create(onnxPath);
 *   assert.equal(session.outputNames[0], 'logits');
 *   await session.release();
 *   await rm(cacheDir, { recursive: true });
 */
export async function compileDecoder(
  modelDirectory: string,
  options: CompileDecoderOptions,
): Promise<CompiledDecoder> {
  const arithmetic = await chooseArithmetic(modelDirectory, options);
  const compiled = await compileOnce(modelDirectory, options.cacheDir, cacheKey(arithmetic), (target) =>
    writeDecoder(modelDirectory, target, arithmetic),
  );
  return describe(compiled, options, arithmetic);
}

/** Finds a decoder that {@link compileDecoder} has compiled before with the same options. */
export async function findCompiledDecoder(
  modelDirectory: string,
  options: CompileDecoderOptions,
): Promise<CompiledDecoder | undefined> {
  const arithmetic = await chooseArithmetic(modelDirectory, options);
  const found = await findCompiled<Description>(modelDirectory, options.cacheDir, cacheKey(arithmetic));
  return found && describe(found, options, arithmetic);
}

/** Description of the model, which is stored with the graph. */
type Description = Omit<CompiledDecoder, 'onnxPath' | 'weights' | 'kv' | 'kernel'>;

/** The options that determine the graph. */
interface Arithmetic {
  readonly linear: LinearMode;
  readonly kv: KvPrecision;
  readonly kernel: IntegerKernel;
}

async function chooseArithmetic(modelDirectory: string, options: CompileDecoderOptions): Promise<Arithmetic> {
  const { weights, kv } = options;
  const isExact = weights === 'fp32' && kv === 'float';
  const kernel = isExact ? 'exact' : (options.kernel ?? (await detectIntegerKernel()));
  return { linear: await linearMode(modelDirectory, options), kv, kernel };
}

const cacheKey = (arithmetic: Arithmetic): object => ({ kind: 'decoder', ...arithmetic });

function describe(
  { directory, description }: Compiled<Description>,
  { weights, kv }: CompileDecoderOptions,
  { kernel }: Arithmetic,
): CompiledDecoder {
  return { onnxPath: join(directory, 'model.onnx'), ...description, weights, kv, kernel };
}

async function linearMode(
  modelDirectory: string,
  { weights, block }: Pick<CompileDecoderOptions, 'weights' | 'block'>,
): Promise<LinearMode> {
  if (weights === 'fp32') return 'fp32';
  // Larger blocks lose twice as much with 4 bits (docs/benchmarks.md).
  if (weights === 'int4') return { bits: 4, block: block === 'row' ? 32 : (block ?? 32), zeroPoints: true };
  // An unknown architecture is the error, whatever the weights are.
  if (!block) await readDecoderShape(modelDirectory);
  const wanted = block ?? ((await hasRowScales(modelDirectory)) ? 'row' : 32);
  return wanted === 'row' ? 'int8-row' : { bits: 8, block: wanted, zeroPoints: false };
}

async function writeDecoder(
  modelDirectory: string,
  target: string,
  { linear, kv, kernel }: Arithmetic,
): Promise<Description> {
  const shape = await writeDecoderGraph(modelDirectory, target, {
    linear,
    kernel,
    takesImages: true,
    attention: (graph, decoder, inputIds) => new ExternalKvAttention(graph, decoder, kv, inputIds),
  });
  const { layers, kvHeads, headDim, vocabularySize, contextLength, imageTokenId, hiddenSize } = shape;
  const images = imageTokenId === undefined ? {} : { imageSize: hiddenSize };
  return { layers, kvHeads, headDim, vocabularySize, contextLength, ...images };
}

/**
 * Writes `model.onnx` into `targetDirectory` with the inputs and outputs of exporters: `input_ids`,
 * `attention_mask`, `position_ids` and `past_key_values.*` in, `logits` of every position and `present.*` out. This
 * form is slower; it serves comparisons and other runtimes. With int8 weights, activations are quantized over the
 * whole tensor, as exporters do. Returns the file's path. Errors: see {@link compileDecoder}.
 */
export async function exportDecoder(
  modelDirectory: string,
  targetDirectory: string,
  weights: 'fp32' | 'int8',
): Promise<string> {
  await mkdir(targetDirectory, { recursive: true });
  await writeDecoderGraph(modelDirectory, targetDirectory, {
    linear: weights === 'fp32' ? 'fp32' : 'int8-tensor',
    kernel: await detectIntegerKernel(),
    attention: (graph, shape, inputIds) => new ConcatKvAttention(graph, shape, inputIds),
  });
  return join(targetDirectory, 'model.onnx');
}

/**
 * Writes the graph of {@link exportDecoder} with float weights, or finds it in the cache. It suits devices whose
 * memory holds the KV cache. Returns the file's path. Errors: see {@link compileDecoder}.
 */
export async function compileConcatKvDecoder(modelDirectory: string, cacheDir: string): Promise<string> {
  const key = { kind: 'decoder', attention: 'dense', weights: 'fp32' };
  const { directory } = await compileOnce(modelDirectory, cacheDir, key, async (target) => {
    await exportDecoder(modelDirectory, target, 'fp32');
    return {};
  });
  return join(directory, 'model.onnx');
}

/** Reads a model directory and writes its graph as `model.onnx` into `target`; returns the model's shape. */
async function writeDecoderGraph(
  modelDirectory: string,
  target: string,
  options: DecoderGraphOptions,
): Promise<DecoderShape> {
  const shape = await readDecoderShape(modelDirectory);
  const hasImages = shape.imageTokenId !== undefined;
  const takesImages = hasImages && options.takesImages === true;
  const build = (reader: SafetensorsReader) => {
    const weights = new DecoderWeights(reader, shape);
    const graph = new DecoderGraphWriter(shape, weights, { ...options, takesImages }).write();
    return {
      isIgnorable: (name: string) =>
        isIgnorable(name, shape.tiedEmbeddings) || (hasImages && isVisionTensor(name)),
      write: () => writeOnnxFile(target, graph),
    };
  };
  await withCheckpoint(modelDirectory, build, hasImages ? nameOfTextTensor : undefined);
  return shape;
}

/** The text model of a vision-language model has the names of a Llama below `model.text_model`. */
function nameOfTextTensor(stored: string): string {
  return stored.replace(/^model\.text_model\./, 'model.');
}

/** Tensors that the graph does not need: tables that are recomputed, and a tied matrix that was saved twice. */
function isIgnorable(name: string, tiedEmbeddings: boolean): boolean {
  return (
    name.endsWith('rotary_emb.inv_freq') ||
    isPackedDetail(name) ||
    (tiedEmbeddings && name === 'lm_head.weight')
  );
}
