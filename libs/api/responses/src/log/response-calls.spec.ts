import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { responseFromEvents } from './apply-event.js';
import { ResponseMachine } from './response-machine.js';
import { initialResponse, logOf, run, say } from './response-machine.fixture.js';

describe('calls in a log', () => {
  it('have arguments that equal their joined deltas', () => {
    expect.hasAssertions();
    fc.assert(
      fc.property(run, (value) => {
        const { log } = logOf(value);
        const joined = new Map<number, string>();
        for (const event of log) {
          if ('delta' in event && !('content_index' in event) && !('summary_index' in event))
            joined.set(event.output_index, (joined.get(event.output_index) ?? '') + event.delta);
        }
        for (const [index, item] of responseFromEvents(log).output.entries()) {
          const text = item.type === 'function_call' ? item.arguments : 'input' in item ? item.input : '';
          expect(text).toBe(joined.get(index) ?? '');
        }
      }),
    );
  });

  it('are of the type and namespace of their tool', () => {
    const machine = new ResponseMachine(initialResponse());
    const names = ['add', 'patch', 'files__read', 'unknown'];
    const toolCalls = names.map((name, index) => ({ index, id: `call_${index}`, name, input: '{}' }));
    say(machine, { toolCalls, finishReason: 'tool_calls' });
    expect(machine.end().at(-1)?.type).toBe('response.completed');
    expect(machine.response.output.map(({ id: _id, ...item }) => item)).toEqual([
      { type: 'function_call', status: 'completed', call_id: 'call_0', name: 'add', arguments: '{}' },
      { type: 'custom_tool_call', status: 'completed', call_id: 'call_1', name: 'patch', input: '{}' },
      {
        type: 'function_call',
        status: 'completed',
        call_id: 'call_2',
        name: 'read',
        namespace: 'files',
        arguments: '{}',
      },
      { type: 'function_call', status: 'completed', call_id: 'call_3', name: 'unknown', arguments: '{}' },
    ]);
  });

  it('come after what the model thought, which is an item of its own', () => {
    const machine = new ResponseMachine(initialResponse());
    say(machine, { reasoning: 'I need ' });
    say(machine, { reasoning: 'a sum.' });
    say(machine, { toolCalls: [{ index: 0, id: 'call_1', name: 'add', input: '' }] });
    machine.cancel();
    expect(machine.response.output).toMatchObject([
      { type: 'reasoning', status: 'completed', summary: [{ type: 'summary_text', text: 'I need a sum.' }] },
      { type: 'function_call', status: 'incomplete', arguments: '' },
    ]);
  });

  it('sum up the usage of all generations', () => {
    const machine = new ResponseMachine(initialResponse());
    const usage = { promptTokens: 3, completionTokens: 2, cachedTokens: 1, reasoningTokens: 1 };
    say(machine, { text: 'a', usage });
    machine.take({ type: 'turn_end' });
    say(machine, { text: 'b', usage });
    machine.end();
    expect(machine.response.output).toHaveLength(2);
    expect(machine.response.usage).toMatchObject({
      input_tokens: 6,
      output_tokens: 4,
      total_tokens: 10,
      output_tokens_details: { reasoning_tokens: 2 },
    });
  });
});
