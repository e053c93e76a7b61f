import { uploadEnvironmentSchema } from '#api/dataprep-api';
import {
  baseEnvironmentSchema,
  booleanSchema,
  bytes,
  databaseEnvironmentSchema,
  milliseconds,
  portSchema,
  seconds,
} from '#platform/service-kit';
import type { z } from 'zod';

export const dataprepEnvironmentSchema = baseEnvironmentSchema.extend({
  ...databaseEnvironmentSchema.shape,
  DATAPREP_PORT: portSchema.default(6007),
  ...uploadEnvironmentSchema.shape,
  /** Limit in bytes for the shared passages and vectors, and for the vector stores of each owner. 0: no limit. */
  DOCUMENTS_LIMIT_BYTES: bytes('stored', 0).default(20 * 1024 ** 3),
  /** Limit in bytes for the files that are kept with shared documents. 0: files are not kept. */
  ORIGINALS_LIMIT_BYTES: bytes('stored', 0).default(10 * 1024 ** 3),
  /** A background job without a progress report for this time has lost its process. Another process takes it over. */
  JOB_ABANDONED_AFTER_MS: milliseconds(3_000).default(60_000),
  /** Limit for the length of an audio or video file, which the asr service transcribes. */
  RECORDING_LIMIT_SECONDS: seconds(1).default(7_200),
  LINK_TIMEOUT_MS: milliseconds(100).default(20_000),
  /** Allows links to private and loopback addresses, for an intranet with trusted users. */
  ALLOW_PRIVATE_LINKS: booleanSchema.default(false),
  /** For dist/samples.js, which runs in the container of this service. */
  MEGANEST_SAMPLE_DOCUMENTS: booleanSchema.default(true),
});
export type DataprepEnvironment = z.infer<typeof dataprepEnvironmentSchema>;
