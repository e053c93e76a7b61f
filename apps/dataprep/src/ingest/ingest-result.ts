import { MegaNestError, type IngestedDocument, type IngestProgress } from '#platform/contracts';
import { Logger } from '@nestjs/common';
import type { IngestSource } from './sources.js';

const logger = new Logger('ingest');

/** Writes a line for a document that is not stored, since its request may succeed for other documents. */
export function logFailed(
  { filename }: Pick<IngestSource, 'filename'>,
  { code, message }: MegaNestError,
): void {
  logger.warn(`${filename} was not stored: ${message} (${code})`);
}

/**
 * The last event of an ingest, from the outcomes of its sources. Errors: the first failure, if no document was
 * ingested.
 */
export function resultOf(
  sources: readonly Pick<IngestSource, 'filename'>[],
  outcomes: readonly (IngestedDocument | MegaNestError)[],
): IngestProgress {
  const documents = outcomes.flatMap((outcome) => (outcome instanceof MegaNestError ? [] : [outcome]));
  const first = outcomes.find((outcome) => outcome instanceof MegaNestError);
  if (first && documents.length === 0) throw first;
  const failed = outcomes.flatMap((outcome, index) => {
    if (!(outcome instanceof MegaNestError)) return [];
    const { code, message, param } = outcome;
    return [{ filename: sources[index]?.filename ?? '', error: { code, message, param } }];
  });
  return {
    stage: 'done',
    filename: sources.at(-1)?.filename ?? '',
    completed: documents.length,
    total: sources.length,
    documents,
    ...(failed.length > 0 && { failed }),
  };
}
