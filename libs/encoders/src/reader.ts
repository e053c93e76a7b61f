import type { ModelInfo } from '#contracts';
import { TextTokenizer } from '#models';
import { countTokens } from './embedder.js';
import type { EncoderPool } from './encoder-pool.js';
import { loadEncoder, type EncoderLoadOptions } from './load-encoder.js';
import { ReaderTokens, type ReadSentence } from './reader-tokens.js';
import { refuseOutcome } from './refuse-outcome.js';

export interface ReadScores {
  /** The model's logit of each sentence, in their order: greater is likelier to answer. */
  readonly scores: number[];
  /** Tokens of all that was read. */
  readonly promptTokens: number;
}

/** Scores how well sentences answer a question. */
export interface Reader {
  readonly info: ModelInfo;
  /** The folder that the model was loaded from; other files of it belong to the model too. */
  readonly directory: string;
  /** Why the model runs on its exporter's graph rather than one that we compile; absent where it is compiled. */
  readonly fallback?: string;
  /** Errors: overloaded, cancelled. */
  read(question: string, sentences: readonly ReadSentence[], signal?: AbortSignal): Promise<ReadScores>;
  close(): Promise<void>;
}

/** Loads a reader: a bundled name or a folder. Throws ModelLoadError. */
export async function loadReader(source: string, options: EncoderLoadOptions = {}): Promise<Reader> {
  const { info, pool, ready, directory } = await loadEncoder('rerank', source, options);
  const tokenizer = await TextTokenizer.load(directory);
  const tokens = new ReaderTokens((word) => tokenizer.encode(word));
  return new OnnxReader(info, directory, pool, tokens, ready.fallback);
}

class OnnxReader implements Reader {
  constructor(
    readonly info: ModelInfo,
    readonly directory: string,
    private readonly pool: EncoderPool,
    private readonly tokens: ReaderTokens,
    readonly fallback?: string,
  ) {}

  async read(
    question: string,
    sentences: readonly ReadSentence[],
    signal?: AbortSignal,
  ): Promise<ReadScores> {
    const items = this.tokens.encode(question, sentences).map((sequence) => ({ sequence }));
    const rows = await this.pool.encode(items, signal);
    rows.forEach(({ outcome }, index) => refuseOutcome(outcome, this.info, `sentences[${index}]`));
    return { scores: rows.map(({ row }) => row[0]!), promptTokens: countTokens(rows) };
  }

  close(): Promise<void> {
    return this.pool.close();
  }
}
