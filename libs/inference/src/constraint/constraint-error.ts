/** A constraint that cannot be honoured as it stands, and why; `path` leads to the place within it. */
export class ConstraintError extends Error {
  override readonly name = 'ConstraintError';

  constructor(
    readonly reason: string,
    readonly path: readonly (string | number)[] = [],
  ) {
    super(reason);
  }
}
