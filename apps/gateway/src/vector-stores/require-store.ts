import { MegaNestError } from '#contracts';
import type { StoredVectorStore, VectorStoresRepository } from '#storage';

/** The owner's store. Errors: not_found; conflict where it has expired, unless that does not matter. */
export async function requireStore(
  stores: VectorStoresRepository,
  owner: string,
  id: string,
  living: 'living' | 'also expired' = 'living',
  param = 'vector_store_id',
): Promise<StoredVectorStore> {
  const store = await stores.find(owner, id);
  if (!store) throw new MegaNestError('not_found', { what: `The vector store ${id}`, param });
  if (living === 'living' && store.status === 'expired')
    throw new MegaNestError('conflict', { detail: `The vector store ${id} has expired.`, param });
  return store;
}
