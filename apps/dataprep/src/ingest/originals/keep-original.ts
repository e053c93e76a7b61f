import { MegaNestError, type IngestedDocument } from '#platform/contracts';
import type { OriginalsRepository } from '#platform/storage';
import type { LoadedDocument } from '../document-loader.js';
import type { IngestContext } from '../ingest-context.js';

/**
 * Keeps the file of a document that was stored. A file that cannot be kept is a warning: the document itself is stored. Files
 * of vector stores are kept as files already.
 */
export async function withOriginal(
  originals: Pick<OriginalsRepository, 'keep' | 'maxBytes'>,
  stored: IngestedDocument,
  { original, bytes, filename }: LoadedDocument,
  { owner }: IngestContext,
): Promise<IngestedDocument> {
  if (stored.outcome === 'unchanged' || !original || owner !== undefined || originals.maxBytes === 0)
    return stored;
  const reason = await originals.keep(stored.documentId, bytes, original()).then(
    (outcome) => (outcome === 'no_room' ? 'ORIGINALS_LIMIT_BYTES leaves no room for it' : undefined),
    (error: unknown) => MegaNestError.from(error, 'dataprep').message,
  );
  if (reason === undefined) return stored;
  const warning = {
    code: 'original_not_kept',
    message: `The file ${filename} itself was not kept: ${reason}.`,
  };
  return { ...stored, warnings: [...(stored.warnings ?? []), warning] };
}
