import { availableParallelism } from 'node:os';
import { z } from 'zod';
import { MegaNestError, type ModelInfo } from '#platform/contracts';
import {
  canCompileEncoder,
  engineSettings,
  ModelLoadError,
  readOptionalJson,
  readEncoderConfig,
  resolveModel,
  describeWeights,
} from '#engine/models';
import type { ModelLoadOptions } from '#engine/models';
import {
  EncoderPool,
  type EncodedRow,
  type EncodeOptions,
  type EncoderItem,
  type EncoderOutcome,
  type EncoderReady,
  type EncoderSettings,
  type EncoderTask,
} from './encoder-pool.js';
import { readClassificationHead } from './classification-head.js';
import type { PoolingMode } from './sentence/pooling.js';
import { readSentenceModules, usualPooling, type SentenceModules } from './sentence/sentence-modules.js';
import { revisionWithHead } from './sentence/sentence-revision.js';

/** Options of the functions that load encoders. */
export interface EncoderLoadOptions extends ModelLoadOptions {
  /** Number of worker threads, each with a session of one thread; default: one per CPU core. */
  readonly workers?: number;
  /** Maximum number of queued inputs of each priority; default 4096. */
  readonly queueCapacity?: number;
  /** Lowers the model's own limit. */
  readonly maxInputTokens?: number;
  /**
   * Quantization of activations in a compiled int8 graph: with `row` (default) a vector is the same alone and in
   * any batch; `tensor` is faster.
   */
  readonly activations?: 'row' | 'tensor';
  /** Overrides the pooling in the model's files. */
  readonly pooling?: PoolingMode | readonly PoolingMode[];
}

/** The parts that models of every task have. */
export interface EncoderHandle {
  readonly info: ModelInfo;
  /** Reason for running the exported graph; absent if the model was compiled. */
  readonly fallback?: string;
  close(): Promise<void>;
}

/** An encoder with its workers running. */
class LoadedEncoder {
  readonly handle: EncoderHandle;

  constructor(
    readonly info: ModelInfo,
    readonly pool: EncoderPool,
    readonly ready: EncoderReady,
    readonly modules: SentenceModules,
    /** Labels of a classifier, if its config.json names them. */
    readonly labels?: readonly string[],
  ) {
    this.handle = { info, fallback: ready.fallback, close: () => pool.close() };
  }

  /**
   * Returns a row per item, and the tokens of all items. Errors: the errors of {@link EncoderPool.encode};
   * context_length_exceeded and invalid_request with param `field[<n>]` if the model refuses an item.
   */
  async encode(items: readonly EncoderItem[], field: string, options?: EncodeOptions) {
    const encoded = await this.pool.encode(items, options);
    encoded.forEach(({ outcome }, index) => refuseOutcome(outcome, this.info, `${field}[${index}]`));
    return { rows: encoded.map(({ row }) => row), promptTokens: countTokens(encoded) };
  }
}

/** Throws if the model refused the input. Errors: context_length_exceeded or invalid_request with `param`. */
function refuseOutcome(outcome: EncoderOutcome, { id, maxInputTokens }: ModelInfo, param: string): void {
  if ('tooLong' in outcome)
    throw new MegaNestError('context_length_exceeded', {
      tokens: outcome.tooLong,
      model: id,
      limit: maxInputTokens,
      param,
    });
  if ('unknownToken' in outcome)
    throw new MegaNestError('invalid_request', {
      detail: `${id} has no token ${outcome.unknownToken}.`,
      param,
    });
}

/** Counts the tokens that the model processed; refused items count 0. */
export function countTokens(rows: readonly EncodedRow[]): number {
  return rows.reduce((total, { outcome }) => total + ('tokens' in outcome ? outcome.tokens : 0), 0);
}

/** Finds, loads and warms up an encoder on all its workers. Errors: ModelLoadError. */
export async function loadEncoder(
  task: EncoderTask,
  source: string,
  options: EncoderLoadOptions,
): Promise<LoadedEncoder> {
  const { id, directory } = await resolveModel(source, options, canCompileEncoder);
  const modules = await readSentenceModules(directory);
  const labels = task === 'classify' ? await readClassificationHead(modules.directory) : undefined;
  const head = headOf(task, id, modules, options);
  const settings = { ...(await encoderSettings(task, modules, options)), head, scores: labels?.scores };
  const pool = new EncoderPool(settings, {
    hangLimitMs: options.hangLimitMs,
    workers: options.workers ?? availableParallelism(),
    queueCapacity: options.queueCapacity ?? 4096,
  });
  try {
    const ready = await pool.start();
    const weights = await describeWeights(ready.weightsFile, settings.engine.compiledDirectory);
    const { maxInputTokens } = settings;
    const revision = await revisionWithHead(weights.revision, modules);
    const info = { id, ...weights, revision, backend: ready.backend, maxInputTokens };
    return new LoadedEncoder(info, pool, ready, modules, labels?.labels);
  } catch (error) {
    await pool.close();
    throw error;
  }
}

async function encoderSettings(
  task: EncoderTask,
  { directory, maxTokens = Infinity, lowercases }: SentenceModules,
  options: EncoderLoadOptions,
): Promise<Omit<EncoderSettings, 'head'>> {
  const config = await readEncoderConfig(directory);
  return {
    task,
    directory,
    engine: engineSettings(directory, options),
    activations: options.activations ?? 'row',
    device: options.device ?? 'auto',
    threads: 1,
    maxInputTokens: Math.min(maxTokens, await readMaxTokens(directory), options.maxInputTokens ?? Infinity),
    vocabularySize: config.vocab_size ?? Number.MAX_SAFE_INTEGER,
    marksMatches: config.token_types === 'matches',
    padTokenId: config.pad_token_id ?? 0,
    lowercases,
  };
}

/** What follows the token states. Errors: ModelLoadError if the modules do not fit the task. */
function headOf(
  task: EncoderTask,
  id: string,
  { directory, pooling, steps }: SentenceModules,
  options: EncoderLoadOptions,
): EncoderSettings['head'] {
  if (task === 'embed') return { pooling: [options.pooling ?? pooling ?? usualPooling(id)].flat(), steps };
  if (steps.length === 0) return undefined;
  if (pooling) return { pooling, steps };
  throw new ModelLoadError(
    `${directory}: modules.json has a ${steps[0]!.kind} module without a Pooling before it, which is not supported.`,
  );
}

const tokenizerConfigSchema = z.looseObject({ model_max_length: z.number().nullish() });

/** RoBERTa counts positions from after its padding id, so two of them are unused. */
const reservedPositions: Readonly<Record<string, number>> = { roberta: 2, 'xlm-roberta': 2, camembert: 2 };

async function readMaxTokens(directory: string): Promise<number> {
  const tokenizer = await readOptionalJson(directory, 'tokenizer_config.json', tokenizerConfigSchema);
  const { model_type: type, max_position_embeddings: positions = 512 } = await readEncoderConfig(directory);
  return Math.min(tokenizer?.model_max_length ?? Infinity, positions - (reservedPositions[type] ?? 0));
}
