import { TextTokenizer } from '#engine/models';
import { loadEncoder, type EncoderHandle, type EncoderLoadOptions } from './load-encoder.js';
import { ReaderTokens, type ReadSentence } from './reader-tokens.js';

/** Result of {@link Reader.read}. */
export interface ReadScores {
  /** Logit of each sentence, in order; higher means more likely to answer. */
  readonly scores: number[];
  /** Tokens of all inputs. */
  readonly promptTokens: number;
}

/** Scores how well sentences answer a question. */
export interface Reader extends EncoderHandle {
  /** Directory of the model; it also holds other files of the model. */
  readonly directory: string;
  /** Scores sentences. Errors: overloaded, cancelled. */
  read(question: string, sentences: readonly ReadSentence[], signal?: AbortSignal): Promise<ReadScores>;
}

/** Loads a reader: a bundled name or a folder. Errors: ModelLoadError. */
export async function loadReader(source: string, options: EncoderLoadOptions = {}): Promise<Reader> {
  const encoder = await loadEncoder('rerank', source, options);
  const { directory } = encoder.modules;
  const tokenizer = await TextTokenizer.load(directory);
  const tokens = new ReaderTokens((word) => tokenizer.encode(word));
  return {
    ...encoder.handle,
    directory,
    read: async (question, sentences, signal) => {
      const items = tokens.encode(question, sentences).map((sequence) => ({ sequence }));
      const { rows, promptTokens } = await encoder.encode(items, 'sentences', { signal });
      return { scores: rows.map((row) => row[0]!), promptTokens };
    },
  };
}
