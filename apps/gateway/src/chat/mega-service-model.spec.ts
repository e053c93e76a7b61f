import type { ModelInfo } from '#platform/contracts';
import { parseMegaService } from '#platform/dag';
import type { ChatCompletionRequest } from '#api/openai-api';
import { expect, it } from 'vitest';
import { builtInNodes } from '../mega-services/nodes/built-in-nodes.js';
import { MegaServiceModels } from './mega-service-model.js';
import { OpenedModel } from './opened-model.js';

const definition = parseMegaService(
  'name: search\ndescription: A test.\nnodes:\n  llm: { service: llm }',
  'search.yaml',
  { registry: builtInNodes },
);

/** Prepares the mega service for a request. `callsTools`: its model calls tools; otherwise that is away. */
function prepare(request: Partial<ChatCompletionRequest>, callsTools = false) {
  const info: ModelInfo = { id: 'm', revision: '1', backend: 'none', maxInputTokens: 8, created: 0 };
  const opened = new OpenedModel({ isNamed: true, definition, ...(callsTools && { info }) });
  const service = new MegaServiceModels({} as never, {} as never, {} as never, {} as never);
  const messages = [{ role: 'user' as const, content: 'Who?' }];
  return service.prepare(opened, definition, {
    messages,
    parameters: {},
    includeUsage: false,
    extra: {},
    ...request,
  });
}

const tools = [{ type: 'function' as const, name: 'add_memory' }];

it.each([
  ['tools', { tools }],
  ['tools', { tools, toolChoice: { mode: 'auto' as const } }],
  ['functions', { tools, legacyFunctions: true as const }],
])('names %s that its model cannot call as ignored', (field, request) => {
  expect(prepare(request).ignored).toEqual([field]);
  expect(prepare(request, true).ignored).toEqual([]);
});

it('does not name tools that the caller itself turns off', () => {
  expect(prepare({ tools, toolChoice: { mode: 'none' } }).ignored).toEqual([]);
});

it.each([
  ['tool_choice', { tools, toolChoice: { mode: 'required' as const } }],
  ['tool_choice', { tools, toolChoice: { mode: 'required' as const, names: ['add_memory'] } }],
  ['function_call', { tools, toolChoice: { mode: 'required' as const }, legacyFunctions: true as const }],
])('refuses %s that demands a call its model cannot make', (param, request) => {
  expect(() => prepare(request)).toThrow(expect.objectContaining({ status: 400, param }));
});

it('refuses a form of the answer that its model cannot follow', () => {
  const request = { parameters: { constraint: { type: 'json_object' as const } } };
  expect(() => prepare(request)).toThrow(expect.objectContaining({ status: 400, param: 'response_format' }));
});
