/** A model that cannot be served: a missing file, an unknown architecture or device. Thrown by the `load…` functions. */
export class ModelLoadError extends Error {
  override readonly name: string = 'ModelLoadError';
}

/** There is no such model, or it is not one that is served. */
export class ModelNotFoundError extends ModelLoadError {
  override readonly name = 'ModelNotFoundError';
}
