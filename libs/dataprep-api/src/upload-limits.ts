import { bytes, count } from '#service-kit';
import { z } from 'zod';

/** Bounds of one request. */
export interface UploadLimits {
  maxFileBytes: number;
  /** All files together. */
  maxBytes: number;
  /** Most files, and most links. */
  maxFiles: number;
}

/** Injection token of the {@link UploadLimits}. */
export const uploadLimits = Symbol('uploadLimits');

const megabyte = 1024 * 1024;

/** The variables that set the {@link UploadLimits}. */
export const uploadEnvironmentSchema = z.object({
  /** Most bytes of one file or fetched page. */
  UPLOAD_FILE_LIMIT_BYTES: bytes('held').default(64 * megabyte),
  /** Most bytes of all files of a request. */
  UPLOAD_LIMIT_BYTES: bytes('held').default(200 * megabyte),
  /** Most files, and most links, of a request. */
  UPLOAD_FILES_LIMIT: count(1).default(1000),
});

export function uploadLimitsOf(environment: z.infer<typeof uploadEnvironmentSchema>): UploadLimits {
  return {
    maxFileBytes: environment.UPLOAD_FILE_LIMIT_BYTES,
    maxBytes: environment.UPLOAD_LIMIT_BYTES,
    maxFiles: environment.UPLOAD_FILES_LIMIT,
  };
}
