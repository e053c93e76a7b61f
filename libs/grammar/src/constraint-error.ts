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

/** Characters of the longest grammar or expression: far beyond any in use, and read at once. */
const longestSource = 65_536;

/** Refuses a grammar or an expression that takes too long to read. Throws ConstraintError. */
export function assertReadable(source: string): void {
  if (source.length > longestSource)
    throw new ConstraintError(`It has ${source.length} characters; ${longestSource} are allowed.`);
}
