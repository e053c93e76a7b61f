import { MegaNestError } from '#platform/contracts';
import { ModelLoadError } from '#engine/models';
import { countTokens, loadEncoder, type EncoderHandle, type EncoderLoadOptions } from './load-encoder.js';
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
export interface Classifier extends EncoderHandle {
  readonly labels: readonly string[];
  /** Classifies texts completely: a long text is read in overlapping parts. Errors: overloaded, cancelled. */
  classify(texts: readonly string[], options?: { readonly signal?: AbortSignal }): Promise<Classifications>;
}

/** Long texts are split, so that several workers share them and a cancellation takes effect between two pieces. */
const piece = { characters: 4_000, overlap: 400 };

/**
 * Loads a sequence classification model: a bundled name, a folder, or an id on the Hugging Face hub. Errors:
 * ModelLoadError, also if the labels of config.json do not match the graph.
 */
export async function loadClassifier(source: string, options: EncoderLoadOptions = {}): Promise<Classifier> {
  const { info, pool, ready, handle, labels: named = [] } = await loadEncoder('classify', source, options);
  const labels = named.length > 0 ? named : Array.from({ length: ready.width }, (_, id) => `LABEL_${id}`);
  if (labels.length !== ready.width) {
    await pool.close();
    throw new ModelLoadError(
      `The model "${info.id}" has ${ready.width} classes, and its config.json names ${labels.length} (id2label).`,
    );
  }
  return {
    ...handle,
    labels,
    classify: async (texts, { signal } = {}) => {
      const pieces = splitTexts(texts, piece);
      const items = pieces.map(({ text }) => ({ text, inWindows: true as const }));
      const encoded = await pool.encode(items, { signal });
      // A text that was not read must not count as a text without a label.
      if (encoded.some(({ outcome }) => !('tokens' in outcome))) throw mismatch(info.id);
      const rows = encoded.map(({ row }) => row);
      const scores = maxScores(pieces, rows, texts.length).map((row) =>
        labels.map((label, index) => ({ label, score: row[index] ?? 0 })),
      );
      return { scores, promptTokens: countTokens(encoded) };
    },
  };
}

function mismatch(id: string): MegaNestError {
  const detail = `the tokenizer of ${id} produces token ids outside the vocabulary of its graph`;
  return new MegaNestError('internal_error', { service: 'inference', detail });
}
