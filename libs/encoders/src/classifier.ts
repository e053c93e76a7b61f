import { MegaNestError, type ModelInfo } from '#contracts';
import { ModelLoadError } from '#models';
import { countTokens } from './embedder.js';
import type { EncoderPool } from './encoder-pool.js';
import { loadEncoder, type EncoderLoadOptions } from './load-encoder.js';
import { cutPieces, highestScores } from './text-pieces.js';

export interface LabelScore {
  readonly label: string;
  /** 0–1; in a text longer than the model takes, that of the part where it is highest. */
  readonly score: number;
}

export interface Classifications {
  /** For each text the score of every label, in the order of the model's labels. */
  readonly scores: readonly (readonly LabelScore[])[];
  /** Tokens of all texts, the model's marks included; where parts overlap, tokens count twice. */
  readonly promptTokens: number;
}

/** Says how well each label of a model fits a text. */
export interface Classifier {
  readonly info: ModelInfo;
  readonly labels: readonly string[];
  /** Why the model runs on its exporter's graph rather than one that we compile; absent where it is compiled. */
  readonly fallback?: string;
  /** Nothing of a text is left out: a long one is read in overlapping parts. Errors: overloaded, cancelled. */
  classify(texts: readonly string[], options?: { readonly signal?: AbortSignal }): Promise<Classifications>;
  close(): Promise<void>;
}

/**
 * Loads a model for sequence classification (BERT-shaped or any with an exporter's graph): a bundled name, a folder, or a
 * hub id. Throws ModelLoadError, also where the labels of its config.json are not those of its graph.
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

/** Long texts go to the workers in pieces, so that workers share them and a cancel takes effect between two. */
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
    const pieces = cutPieces(texts, piece);
    const items = pieces.map(({ text }) => ({ text, inWindows: true as const }));
    const rows = await this.pool.encode(items, options.signal);
    if (rows.some(({ outcome }) => !('tokens' in outcome))) throw this.mismatch();
    const highest = highestScores(
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

  /** A text that was not read must not pass for one that no label fits. */
  private mismatch(): MegaNestError {
    const detail = `the tokenizer of ${this.info.id} makes tokens that its graph does not know`;
    return new MegaNestError('internal_error', { service: 'inference', detail });
  }
}
