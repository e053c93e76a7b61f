import { PGlite } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';

/** Opens the database in `directory`, which is created when it does not exist. */
export function openDatabase(directory: string): Promise<PGlite> {
  return PGlite.create({
    dataDir: directory,
    extensions: { vector },
    // 128 MB by default; WebAssembly memory never shrinks.
    startParams: [...PGlite.defaultStartParams, '-c', 'shared_buffers=64MB'],
  });
}
