/** A model that cannot be served: a missing file, an unknown architecture or device. Thrown by the `load…` functions. */
export class ModelLoadError extends Error {
  override readonly name = 'ModelLoadError';
}
