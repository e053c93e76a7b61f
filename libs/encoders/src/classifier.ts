import { MegaNestError, type ModelInfo } from '#contracts';
import { ModelLoadError } from '#models';
import { countTokens } from './embedder.js';
import type { EncoderPool } from './encoder-pool.js';
import { loadEncoder, type EncoderLoadOptions } from './load-encoder.js';
import { splitTexts, maxScores } from './text-pieces.js';

/** A label and its score. */
export interface LabelScore {
  readonly label: string;
  /** 0–1; for a text longer than the model's limit, the maximum over its parts. */
  readonly score: number;
}

/** Result of a classification. */
export interface Classifications {
  /** Per text the scores of all labels, in the order of the model's labels. */
  readonly scores: readonly (readonly LabelScore[])[];
  /** Tokens of all texts, including special tokens; tokens in overlapping parts count twice. */
  readonly promptTokens: number;
}

/** Scores texts for each label of a model. */
export interface Classifier {
  readonly info: ModelInfo;
  readonly labels: readonly string[];
  /** Reason for running the exported graph; absent if the model was compiled. */
  readonly fallback?: string;
  /** Classifies texts completely: a long text is read in overlapping parts. Errors: overloaded, cancelled. */
  classify(texts: readonly string[], options?: { readonly signal?: AbortSignal }): Promise<Classifications>;
  close(): Promise<void>;
}

/**
 * Loads a sequence classification model: a bundled name, a folder, or an id on the Hugging Face hub. Errors:
 * ModelLoadError, also if the labels of config.json do not match the graph.
 */
export async function loadClassifier(source: string, options: EncoderLoadOptions = {}): Promise<Classifier> {
  const { info, pool, ready, labels = [] } = await loadEncoder('classify', source, options);
  const names = labels.length > 0 ? labels : Array.from({ length: ready.width }, (_, id) => `LABEL_${id}`);
  if (names.length === ready.width) return new OnnxClassifier(info, names, pool, ready.fallback);
  await pool.close();
  throw new ModelLoadError(
    `The model "${info.id}" has ${ready.width} classes, and its config.json names ${names.length} (id2label).`,
  );
}

/** Long texts are split, so that several workers share them and a cancellation takes effect between two pieces. */
const piece = { characters: 4_000, overlap: 400 };

class OnnxClassifier implements Classifier {
  constructor(
    readonly info: ModelInfo,
    readonly labels: readonly string[],
    private readonly pool: EncoderPool,
    readonly fallback?: string,
  ) {}

  async classify(
    texts: readonly string[],
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<Classifications> {
    const pieces = splitTexts(texts, piece);
    const items = pieces.map(({ text }) => ({ text, inWindows: true as const }));
    const rows = await this.pool.encode(items, options.signal);
    if (rows.some(({ outcome }) => !('tokens' in outcome))) throw this.mismatch();
    const highest = maxScores(
      pieces,
      rows.map(({ row }) => row),
      texts.length,
    );
    const scores = highest.map((row) =>
      this.labels.map((label, index) => ({ label, score: row[index] ?? 0 })),
    );
    return { scores, promptTokens: countTokens(rows) };
  }

  close(): Promise<void> {
    return this.pool.close();
  }

  /** A text that was not read must not count as a text without a label. */
  private mismatch(): MegaNestError {
    const detail = `the tokenizer of ${this.info.id} produces token ids outside the vocabulary of its graph`;
    return new MegaNestError('internal_error', { service: 'inference', detail });
  }
}
