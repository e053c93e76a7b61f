import { bytes, count, milliseconds } from '#service-kit';

const megabyte = 1024 * 1024;

/** The gateway's variables that concern stored files and vector stores. */
export const filesEnvironmentShape = {
  /** Most bytes of one stored file. */
  FILES_FILE_LIMIT_BYTES: bytes('stored').default(512 * megabyte),
  /** Most bytes of all files of one API key. */
  FILES_LIMIT_BYTES: bytes('stored').default(10 * 1024 * megabyte),
  /** Most files of one API key. */
  FILES_LIMIT_COUNT: count(1).default(10_000),
  /** How long a gateway may be silent before another one takes up the files that it was indexing. */
  INDEXING_LEASE_MS: milliseconds(500).default(15_000),
};
