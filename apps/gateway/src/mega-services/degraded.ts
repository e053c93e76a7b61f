import type { RunReceipt } from '#dag';

/** A step that an answer was made without, though its mega service has it. */
export interface DegradedStep {
  /** Name of the node, `outer/inner` in a nested mega service; or of a part of a node's work. */
  name: string;
  /** Code of the error, or what was wrong. */
  reason: string;
}

/**
 * The optional nodes that a run skipped because they failed or came too late, and the parts of their work that nodes report as
 * `details.degraded`. A node that a condition skips is not among them.
 */
export function degradedSteps({ nodes }: RunReceipt, prefix = ''): DegradedStep[] {
  return nodes.flatMap(({ node, state, code, details, nested }) => [
    ...(state === 'skipped' && code ? [{ name: prefix + node, reason: code }] : []),
    ...Object.entries((details?.['degraded'] ?? {}) as Record<string, string>).map(([part, reason]) => ({
      name: prefix + part,
      reason,
    })),
    ...(nested ? degradedSteps(nested, `${prefix}${node}/`) : []),
  ]);
}
