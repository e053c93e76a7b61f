import { MegaNestError } from '#contracts';
import { z } from 'zod';
import type { Classifier } from '../encoder/classifier.js';
import { cutPieces, highestScores, type TextPiece } from '../encoder/text-pieces.js';
import type { RemoteOptions } from './remote-server.js';
import { TeiServer } from './text-embeddings-inference.js';

const schema = z.array(z.array(z.object({ label: z.string(), score: z.number() })));

/** English has about 4 characters a token; fewer, so that a piece seldom has more tokens than the model takes. */
const charactersPerToken = 3;

/**
 * Classifies on a Text Embeddings Inference server (`/predict`), whose scores are the softmax of several labels and the
 * sigmoid of one. Errors: service_unavailable, bad_upstream when it is no such server or its model has no labels.
 */
export async function openRemoteClassifier(options: RemoteOptions): Promise<Classifier> {
  const server = await TeiServer.open('guardrail', options);
  const { info, labels } = server;
  if (!labels) throw unexpected(`${info.id} on its engine is no classifier`);
  const characters = info.maxInputTokens * charactersPerToken;
  return {
    info,
    labels,
    async classify(texts, { signal } = {}) {
      const pieces = cutPieces(texts, { characters, overlap: Math.floor(characters / 8) });
      const { answers, promptTokens } = await server.inBatches('/predict', pieces, body, { schema, signal });
      const rows = answers.flat().map((row) => inOrder(labels, row));
      const scores = highestScores(pieces, rows, texts.length);
      return {
        scores: scores.map((row) => labels.map((label, index) => ({ label, score: row[index] ?? 0 }))),
        promptTokens,
      };
    },
    close: () => Promise.resolve(),
  };
}

/** A bare list of strings would be one text and its pair. */
function body(batch: readonly TextPiece[]) {
  return { inputs: batch.map(({ text }) => [text]), truncate: true, raw_scores: false };
}

/** TEI sends the best first. */
function inOrder(labels: readonly string[], row: z.output<typeof schema>[number]): number[] {
  const scores = new Map(row.map(({ label, score }) => [label, score]));
  return labels.map((label) => {
    const score = scores.get(label);
    if (score === undefined) throw unexpected(`its engine sent no score of ${label}`);
    return score;
  });
}

function unexpected(detail: string): MegaNestError {
  return new MegaNestError('bad_upstream', { service: 'guardrail', detail });
}
