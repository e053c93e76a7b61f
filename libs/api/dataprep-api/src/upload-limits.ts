import { MegaNestError } from '#platform/contracts';
import { bytes, count } from '#platform/service-kit';
import { z } from 'zod';

/** The error for a request over a limit. */
export function tooLarge(what: string, limit: string, param: string): MegaNestError {
  return new MegaNestError('payload_too_large', { what, limit, param });
}

/** Limits of one request. */
export interface UploadLimits {
  maxFileBytes: number;
  /** Limit in bytes for all files together. */
  maxBytes: number;
  /** Limit for the number of files, and for the number of links. */
  maxFiles: number;
}

/** Injection token of the {@link UploadLimits}. */
export const uploadLimits = Symbol('uploadLimits');

const megabyte = 1024 * 1024;

/** The variables that set the {@link UploadLimits}. */
export const uploadEnvironmentSchema = z.object({
  /** Limit in bytes for one file or fetched page. */
  UPLOAD_FILE_LIMIT_BYTES: bytes('held').default(64 * megabyte),
  /** Limit in bytes for all files of a request. */
  UPLOAD_LIMIT_BYTES: bytes('held').default(200 * megabyte),
  /** Limit for the number of files, and for the number of links, of a request. */
  UPLOAD_FILES_LIMIT: count(1).default(1000),
});

export function uploadLimitsOf(environment: z.infer<typeof uploadEnvironmentSchema>): UploadLimits {
  return {
    maxFileBytes: environment.UPLOAD_FILE_LIMIT_BYTES,
    maxBytes: environment.UPLOAD_LIMIT_BYTES,
    maxFiles: environment.UPLOAD_FILES_LIMIT,
  };
}
