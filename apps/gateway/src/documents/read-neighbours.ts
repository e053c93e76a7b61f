import {
  maxNeighbourWords,
  maxPassagesWithNeighbours,
  MegaNestError,
  readNeighbours,
  type ModelInfo,
  type Neighbour,
  type RetrievedDocument,
} from '#platform/contracts';
import type { CallOptions, RpcClient } from '#platform/messaging';

/** A service that answers later leaves the found passages alone. */
const timeoutMs = 2_000;

interface Reading {
  readonly client: Pick<RpcClient, 'request'>;
  readonly options: CallOptions;
  /** What the language model reads; undefined: the found passages alone. */
  readonly reads: ModelInfo['evidence'];
  /** Owner of the vector stores; absent for shared collections. */
  readonly owner?: string;
}

/**
 * Reads the passages around found ones, as many as the language model may read. Without them an answer rests on the
 * found passages alone, so a failure is a `problem` and not an error. Errors: of the caller's signal.
 */
export async function readNeighboursOf(
  documents: readonly RetrievedDocument[],
  { client, options, reads, owner }: Reading,
): Promise<{ neighbours: Neighbour[]; problem?: string }> {
  if (!reads || documents.length === 0) return { neighbours: [] };
  const deadline = Math.min(options.deadline ?? Infinity, Date.now() + timeoutMs);
  const request = {
    ids: documents.slice(0, maxPassagesWithNeighbours).map(({ id }) => id),
    max_words: maxNeighbourWords(reads.tokens),
    ...(owner !== undefined && { owner }),
  };
  try {
    return await client.request(readNeighbours, request, {
      ...options,
      model: undefined,
      patience: undefined,
      deadline,
    });
  } catch (error) {
    options.signal?.throwIfAborted();
    return { neighbours: [], problem: MegaNestError.from(error, 'retrieval').code };
  }
}
