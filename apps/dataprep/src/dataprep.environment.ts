import { uploadEnvironmentSchema } from '#dataprep-api';
import {
  baseEnvironmentSchema,
  booleanSchema,
  bytes,
  databaseEnvironmentSchema,
  milliseconds,
  portSchema,
} from '#service-kit';
import type { z } from 'zod';

export const dataprepEnvironmentSchema = baseEnvironmentSchema.extend({
  ...databaseEnvironmentSchema.shape,
  DATAPREP_PORT: portSchema.default(6007),
  ...uploadEnvironmentSchema.shape,
  /** Most bytes of the passages and vectors that all share, and of those of one owner of vector stores; 0: no bound. */
  DOCUMENTS_LIMIT_BYTES: bytes('stored', 0).default(20 * 1024 ** 3),
  /** A background job that was not reported on for this long has lost its process; another one takes it over. */
  JOB_ABANDONED_AFTER_MS: milliseconds(3_000).default(60_000),
  LINK_TIMEOUT_MS: milliseconds(100).default(20_000),
  /** Lets links point to private and loopback addresses, for an intranet whose users are trusted. */
  ALLOW_PRIVATE_LINKS: booleanSchema.default(false),
});
export type DataprepEnvironment = z.infer<typeof dataprepEnvironmentSchema>;
