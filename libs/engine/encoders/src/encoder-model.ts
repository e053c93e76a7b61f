import { Tensor } from 'onnxruntime-node';
import {
  chooseEngine,
  type EngineChoice,
  createSession,
  type LoadedSession,
  ModelLoadError,
  toFloat32,
  TextTokenizer,
} from '#engine/models';
import { compileEncoder, type CompileEncoderOptions } from '#engine/onnx-compiler';
import type {
  EncodedSequence,
  EncoderSettings,
  EncoderItem,
  EncoderOutcome,
  EncoderReady,
  EncoderResult,
} from './encoder-pool.js';
import { scoresOf } from './classification-head.js';
import { normalizeVector, poolTokens } from './sentence/pooling.js';
import { SentenceHead } from './sentence/sentence-head.js';
import { encodeItem, type ItemCoding, SequenceTemplate } from './encode-item.js';
import { ReaderTokens } from './reader-tokens.js';
import { raiseToMax } from './text-pieces.js';

/** A session and the engine that was chosen. */
export interface LoadedGraph extends LoadedSession, EngineChoice {}

/** Loads the compiled graph if the model can be compiled, otherwise the exported graph. Errors: ModelLoadError. */
async function loadGraph(settings: EncoderSettings): Promise<LoadedGraph> {
  const { directory, engine } = settings;
  const { loaded, choice } = await chooseEngine<LoadedSession>(directory, engine, {
    compiled: () => loadCompiled(settings),
    exporter: (onnxFile) => loadSession(onnxFile, settings, 'exporter'),
  });
  return { ...loaded, ...choice };
}

async function loadCompiled(settings: EncoderSettings): Promise<LoadedSession> {
  const { weights, compiledDirectory: cacheDir } = settings.engine;
  const { onnxPath } = await compileEncoder(settings.directory, {
    cacheDir,
    weights,
    ...graphTask(settings),
    activations: settings.activations,
  });
  return loadSession(onnxPath, settings, `compiled ${weights}`);
}

async function loadSession(file: string, settings: EncoderSettings, kind: string): Promise<LoadedSession> {
  const { session, backend } = await createSession(file, settings);
  return { session, backend: `${backend} ${kind}` };
}

/** The graph pools where it can; the worker pools the states of all tokens for any other head. */
function graphTask({ head }: Pick<EncoderSettings, 'head'>): Pick<CompileEncoderOptions, 'task' | 'pooling'> {
  if (!head) return { task: 'classification' };
  const [pooling, ...others] = head.pooling;
  const isUnit = others.length === 0 && head.steps.every(({ kind }) => kind === 'normalize');
  return isUnit && (pooling === 'mean' || pooling === 'cls')
    ? { task: 'embedding', pooling }
    : { task: 'tokens' };
}

/** On a CPU larger batches are not faster, and padding costs time. */
const batchLimits = { paddedTokens: 256, spread: 1.15 };

const tokenOutputs = ['last_hidden_state', 'token_embeddings'];
/** Output names of exporters, in order of preference. */
const outputNames = {
  embedding: ['sentence_embedding', ...tokenOutputs],
  // An exported graph with this output alone has all modules in it.
  tokens: [...tokenOutputs, 'sentence_embedding'],
  classification: ['logits'],
};

/** An encoder model in its worker thread: token ids in, vectors or scores out. */
export class EncoderModel {
  private readonly coding: ItemCoding;

  private constructor(
    private readonly settings: EncoderSettings,
    tokenizer: TextTokenizer,
    private readonly loaded: LoadedGraph,
    private readonly outputName: string,
    private readonly head: SentenceHead,
  ) {
    this.coding = {
      tokenizer,
      lowercases: settings.lowercases,
      template: SequenceTemplate.from(tokenizer),
      ...(settings.marksMatches && { matches: new ReaderTokens((word) => tokenizer.encode(word)) }),
    };
  }

  /** Execution provider and weights file. */
  get choice(): Pick<EncoderReady, 'backend' | 'weightsFile' | 'fallback'> {
    const { backend, weightsFile, fallback } = this.loaded;
    return { backend, weightsFile, fallback };
  }

  static async load(settings: EncoderSettings): Promise<EncoderModel> {
    const tokenizer = await TextTokenizer.load(settings.directory);
    const loaded = await loadGraph(settings);
    const { session } = loaded;
    const wanted = outputNames[graphTask(settings).task];
    const outputName = wanted.find((name) => session.outputNames.includes(name));
    if (!outputName) {
      throw new ModelLoadError(
        `The graph of ${settings.directory} gives ${session.outputNames.join(', ')}; ${settings.task} needs ${wanted.join(' or ')}.`,
      );
    }
    const head = await SentenceHead.load(settings.head?.steps ?? []);
    return new EncoderModel(settings, tokenizer, loaded, outputName, head);
  }

  /** Encodes the items and runs them in batches of similar length; refused items get an outcome with the reason. */
  async run(items: readonly EncoderItem[]): Promise<EncoderResult & { width: number }> {
    const outcomes: EncoderOutcome[] = [];
    const sequences: { item: number; sequence: EncodedSequence }[] = [];
    items.forEach((item, index) => {
      const encoded = encodeItem(item, this.coding, this.settings);
      if (isRefusal(encoded)) outcomes.push(encoded);
      else {
        sequences.push(...encoded.map((sequence) => ({ item: index, sequence })));
        outcomes.push({ tokens: encoded.reduce((sum, { ids }) => sum + ids.length, 0) });
      }
    });
    const results = new Map<number, Float32Array>();
    const lengths = sequences.map(({ sequence }) => sequence.ids.length);
    for (const batch of planBatches(lengths, batchLimits)) {
      const members = batch.map((index) => sequences[index]!);
      const rows = await this.runBatch(members.map(({ sequence }) => sequence));
      members.forEach(({ item }, index) => {
        const row = results.get(item);
        if (row) raiseToMax(row, rows[index]!);
        else results.set(item, rows[index]!);
      });
    }
    return { outcomes, ...packRows(results, items.length) };
  }

  dispose(): Promise<void> {
    return this.loaded.session.release();
  }

  private async runBatch(sequences: readonly EncodedSequence[]): Promise<Float32Array[]> {
    const length = Math.max(...sequences.map(({ ids }) => ids.length));
    const outputs = await this.loaded.session.run(this.feeds(sequences, length), [this.outputName]);
    const output = outputs[this.outputName]!;
    const values = toFloat32(output);
    return sequences.map(({ ids }, row) => this.resultOf(values, output.dims, row, ids.length));
  }

  private feeds(sequences: readonly EncodedSequence[], length: number): Record<string, Tensor> {
    const size = sequences.length * length;
    const columns = {
      input_ids: new BigInt64Array(size).fill(BigInt(this.settings.padTokenId)),
      attention_mask: new BigInt64Array(size),
      token_type_ids: new BigInt64Array(size),
    };
    sequences.forEach(({ ids, segments }, row) => {
      ids.forEach((id, column) => {
        const at = row * length + column;
        columns.input_ids[at] = BigInt(id);
        columns.attention_mask[at] = 1n;
        columns.token_type_ids[at] = BigInt(segments[column]!);
      });
    });
    const wanted = Object.entries(columns).filter(([name]) => this.loaded.session.inputNames.includes(name));
    return Object.fromEntries(
      wanted.map(([name, data]) => [name, new Tensor('int64', data, [sequences.length, length])]),
    );
  }

  private resultOf(values: Float32Array, dims: readonly number[], row: number, tokens: number): Float32Array {
    const width = dims.at(-1)!;
    const start = row * (dims.length === 2 ? 1 : dims[1]!) * width;
    const { task, head, scores = 'softmax' } = this.settings;
    const result =
      dims.length === 2
        ? values.slice(start, start + width)
        : this.head.apply(
            poolTokens(values.subarray(start, start + tokens * width), width, head?.pooling ?? ['cls']),
          );
    if (task === 'embed') return normalizeVector(result);
    return task === 'classify' ? scoresOf(result, scores) : result;
  }
}

function isRefusal(
  encoded: ReturnType<typeof encodeItem>,
): encoded is Exclude<typeof encoded, readonly unknown[]> {
  return !Array.isArray(encoded);
}

function packRows(results: ReadonlyMap<number, Float32Array>, items: number) {
  const width = results.values().next().value?.length ?? 0;
  const rows = new Float32Array(items * width);
  for (const [item, row] of results) rows.set(row, item * width);
  return { rows, width };
}

/** Limits of a batch. */
interface BatchLimits {
  /** Maximum tokens of a batch, including padding. */
  readonly paddedTokens: number;
  /** Maximum ratio of the longest to the shortest sequence of a batch, e.g. 1.15. */
  readonly spread: number;
}

/**
 * Groups sequences by length to minimize padding. Returns the indexes into `lengths` of each batch, shortest
 * sequences first. A sequence longer than the limit gets a batch of its own.
 */
export function planBatches(lengths: readonly number[], limits: BatchLimits): number[][] {
  const order = lengths.map((_length, index) => index).sort((a, b) => lengths[a]! - lengths[b]!);
  const batches: number[][] = [];
  let batch: number[] = [];
  let shortest = 0;
  for (const index of order) {
    const length = lengths[index]!;
    const fits =
      length * (batch.length + 1) <= limits.paddedTokens && length <= Math.ceil(shortest * limits.spread);
    if (batch.length === 0 || !fits) {
      batch = [];
      batches.push(batch);
      shortest = length;
    }
    batch.push(index);
  }
  return batches;
}
