import type { TokenUsage } from '#contracts';

/** An answer of an engine is not what was asked for. */
export class BrokenFormError extends Error {
  override readonly name = 'BrokenFormError';

  constructor(
    /** What the engine did: "called fly, which is not among the tools". */
    readonly reason: string,
    /** What the answer has cost, where the engine has said so. */
    readonly usage?: TokenUsage,
  ) {
    super(reason);
  }
}
