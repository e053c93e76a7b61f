import { Agent, OpenAIConversationsSession, OpenAIProvider, Runner, tool } from '@openai/agents';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { scriptedModel } from '../helpers/scripted-services.js';
import { startScriptedStack, type ScriptedStack } from '../helpers/scripted-stack.js';
import { recordClient } from '../../support/client-matrix.js';

recordClient({ client: 'Agents SDK', name: '@openai/agents' });

let stack: ScriptedStack;
let runner: Runner;

beforeAll(async () => {
  // Node has one of its own from version 22.
  if (!('WebSocket' in globalThis)) vi.stubGlobal('WebSocket', WebSocket);
  stack = await startScriptedStack();
  runner = runnerOver(true);
});
afterAll(async () => {
  vi.unstubAllGlobals();
  await stack?.stop();
});

const gateway = () => ({ baseURL: `${stack.gateway.url}/v1`, apiKey: 'none' });

function runnerOver(useResponses: boolean, useResponsesWebSocket = false): Runner {
  const modelProvider = new OpenAIProvider({ ...gateway(), useResponses, useResponsesWebSocket });
  return new Runner({ modelProvider, tracingDisabled: true });
}

const repeater = new Agent({ name: 'repeater', model: scriptedModel });

const add = tool({
  name: 'add',
  description: 'Adds two numbers.',
  parameters: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => `sum ${a + b}`,
});
const calculator = new Agent({ name: 'calculator', model: scriptedModel, tools: [add] });

describe('the OpenAI Agents SDK', () => {
  it.each([
    ['responses', true, false],
    ['responses on a WebSocket', true, true],
    ['chat completions', false, false],
  ])('calls a tool over %s', async (_name, useResponses, webSocket) => {
    const over = runnerOver(useResponses, webSocket);
    const { finalOutput } = await over.run(calculator, 'use add {"a":1,"b":2}');
    expect(finalOutput).toBe('sum 3');
  });

  it.each([
    ['responses', true],
    ['chat completions', false],
  ])('runs over %s', async (_name, useResponses) => {
    const { finalOutput } = await runnerOver(useResponses).run(repeater, 'count 3');
    expect(finalOutput).toBe('1 2 3 ');
  });

  it('streams', async () => {
    const result = await runner.run(repeater, 'count 3', { stream: true });
    const deltas: string[] = [];
    for await (const delta of result.toTextStream()) deltas.push(delta);
    await result.completed;
    expect(deltas).toEqual(['1 ', '2 ', '3 ']);
  });

  it('keeps tool calls in a session', async () => {
    const session = new OpenAIConversationsSession(gateway());
    await runner.run(calculator, 'use add {"a":2,"b":2}', { session });
    const { finalOutput } = await runner.run(calculator, 'recall', { session });
    expect(finalOutput).toContain('tool: sum 4');
    const types = (await session.getItems()).map(({ type }) => type);
    expect(types).toEqual([
      'message',
      'function_call',
      'function_call_result',
      'message',
      'message',
      'message',
    ]);
  });

  it('keeps a session in a conversation', async () => {
    const session = new OpenAIConversationsSession(gateway());
    await runner.run(repeater, 'count 2', { session });
    const { finalOutput } = await runner.run(repeater, 'recall', { session });
    expect(JSON.parse(finalOutput ?? '')).toEqual(['user: count 2', 'assistant: 1 2 ', 'user: recall']);
    expect(await session.getItems()).toHaveLength(4);
  });
});
