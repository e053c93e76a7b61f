import { parseMegaService } from '#platform/dag';
import type { ChatCompletionRequest } from '#api/openai-api';
import type { HttpCall } from '#platform/service-kit';
import { expect, it } from 'vitest';
import { builtInNodes } from '../mega-services/nodes/built-in-nodes.js';
import { MegaServiceModels } from './mega-service-model.js';

const definition = parseMegaService(
  'name: search\ndescription: A test.\nnodes:\n  llm: { service: llm }',
  'search.yaml',
  { registry: builtInNodes },
);

/** Opens the mega service for a request. `takesForms`: its model calls tools. */
function open(request: Partial<ChatCompletionRequest>, takesForms = false) {
  const models = {
    takesForms: () => Promise.resolve(takesForms),
    inputOf: () => Promise.resolve(['text']),
    fingerprint: () => Promise.resolve('1'),
    modelOf: () => Promise.resolve(undefined),
    nameOf: () => undefined,
  };
  const service = new MegaServiceModels({} as never, models as never, {} as never, {} as never);
  const messages = [{ role: 'user' as const, content: 'Who?' }];
  const whole = { messages, parameters: {}, includeUsage: false, extra: {}, ...request };
  return service.open(definition, whole, {} as HttpCall);
}

const tools = [{ type: 'function' as const, name: 'add_memory' }];

it.each([
  ['tools', { tools }],
  ['tools', { tools, toolChoice: { mode: 'auto' as const } }],
  ['functions', { tools, legacyFunctions: true as const }],
])('names %s that its model cannot call as ignored', async (field, request) => {
  expect((await open(request)).ignored).toEqual([field]);
  expect((await open(request, true)).ignored).toEqual([]);
});

it('does not name tools that the caller itself turns off', async () => {
  expect((await open({ tools, toolChoice: { mode: 'none' } })).ignored).toEqual([]);
});

it.each([
  ['tool_choice', { tools, toolChoice: { mode: 'required' as const } }],
  ['tool_choice', { tools, toolChoice: { mode: 'required' as const, names: ['add_memory'] } }],
  ['function_call', { tools, toolChoice: { mode: 'required' as const }, legacyFunctions: true as const }],
])('refuses %s that demands a call its model cannot make', async (param, request) => {
  await expect(open(request)).rejects.toMatchObject({ status: 400, param });
});

it('refuses a form of the answer that its model cannot follow', async () => {
  const request = { parameters: { constraint: { type: 'json_object' as const } } };
  await expect(open(request)).rejects.toMatchObject({ status: 400, param: 'response_format' });
});
