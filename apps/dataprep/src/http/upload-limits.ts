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
