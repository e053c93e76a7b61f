import { invalidField } from '#contracts';
import type { StoredItem } from './input-items.js';

const isOutput = ({ type }: StoredItem) => type.endsWith('_call_output');

/**
 * Checks that each output of a tool in the input answers a call that was made, in the input or before it: a model cannot
 * make sense of the others. Errors: invalid_request with the path of the call's id.
 */
export function assertCallsAnswered(
  context: readonly StoredItem[],
  input: readonly StoredItem[],
  path = 'input',
): void {
  const made = new Set(
    [...context, ...input].filter((item) => !isOutput(item)).map((item) => item['call_id']),
  );
  for (const [index, item] of input.entries()) {
    const callId = item['call_id'];
    if (!isOutput(item) || typeof callId !== 'string' || made.has(callId)) continue;
    const param = `${path}[${index}].call_id`;
    throw invalidField(param, `no tool call ${callId} was made that this could be the output of`);
  }
}
