import { describe, expect, it } from 'vitest';
import { assertCallsAnswered } from './answered-calls.js';

const call = { type: 'function_call', id: 'fc', call_id: 'c', name: 'f', arguments: '{}' };
const output = { type: 'function_call_output', id: 'o', call_id: 'c', output: '1' };
const message = { type: 'message', id: 'm' };

describe('assertCallsAnswered', () => {
  it('accepts outputs of calls in the context and in the input', () => {
    expect(() => assertCallsAnswered([call], [output])).not.toThrow();
    expect(() => assertCallsAnswered([], [call, message, output])).not.toThrow();
    expect(() =>
      assertCallsAnswered([], [message, { type: 'local_shell_call_output', id: 'x' }]),
    ).not.toThrow();
  });

  it('names an output that answers nothing', () => {
    expect(() => assertCallsAnswered([output], [message, output])).toThrow(
      expect.objectContaining({ code: 'invalid_request', param: 'input[1].call_id' }),
    );
  });
});
