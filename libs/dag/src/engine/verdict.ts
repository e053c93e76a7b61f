import type { Verdict } from './types.js';

/** True for an output that cuts what lies below its node. */
export function isVerdict(output: unknown): output is Verdict {
  return typeof output === 'object' && output !== null && 'cut' in output && output.cut === true;
}
