import type { ModelInfo } from '#contracts';
import { TextTokenizer } from '#models';
import { countTokens } from './embedder.js';
import type { EncoderPool } from './encoder-pool.js';
import { loadEncoder, type EncoderLoadOptions } from './load-encoder.js';
import { ReaderTokens, type ReadSentence } from './reader-tokens.js';
import { refuseOutcome } from './encoder-messages.js';

/** Result of {@link Reader.read}. */
export interface ReadScores {
  /** Logit of each sentence, in order; higher means more likely to answer. */
  readonly scores: number[];
  /** Tokens of all inputs. */
  readonly promptTokens: number;
}

/** Scores how well sentences answer a question. */
export interface Reader {
  readonly info: ModelInfo;
  /** Directory of the model; it also holds other files of the model. */
  readonly directory: string;
  /** Reason for running the exported graph; absent if the model was compiled. */
  readonly fallback?: string;
  /** Scores sentences. Errors: overloaded, cancelled. */
  read(question: string, sentences: readonly ReadSentence[], signal?: AbortSignal): Promise<ReadScores>;
  close(): Promise<void>;
}

/** Loads a reader: a bundled name or a folder. Errors: ModelLoadError. */
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
