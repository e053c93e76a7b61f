import { describe, expect, it } from 'vitest';
import type { EngineKind } from './engine-kind.js';
import { thinkingFields, variablesWithoutThinking } from './thinking-fields.js';

describe('thinkingFields', () => {
  it.each<[EngineKind, string, object]>([
    ['vllm', 'high', { chat_template_kwargs: { reasoning_effort: 'high' }, reasoning_effort: 'high' }],
    ['vllm', 'xhigh', { chat_template_kwargs: { reasoning_effort: 'xhigh' }, reasoning_effort: 'high' }],
    ['vllm', 'none', { chat_template_kwargs: { reasoning_effort: 'none' } }],
    ['ollama', 'minimal', { reasoning_effort: 'none' }],
    ['openai', 'minimal', { reasoning_effort: 'minimal' }],
    // A proxy may have any model behind it; what it refuses is asked again in another form.
    ['other', 'xhigh', { chat_template_kwargs: { reasoning_effort: 'xhigh' }, reasoning_effort: 'xhigh' }],
  ])('of %s say %s', (kind, reasoning_effort, fields) => {
    expect(thinkingFields({ kind, model: 'm' }, { reasoning_effort }).fields).toEqual(fields);
  });

  it('are empty without variables', () => {
    expect(thinkingFields({ kind: 'vllm', model: 'm' }, undefined).fields).toEqual({});
  });

  it.each<[EngineKind, string, object]>([
    ['vllm', 'Qwen/Qwen3-8B', { chat_template_kwargs: { enable_thinking: false, thinking: false } }],
    ['llama.cpp', 'qwen3', { chat_template_kwargs: { enable_thinking: false, thinking: false } }],
    ['ollama', 'qwen3:8b', { reasoning_effort: 'none' }],
    ['ollama', 'gpt-oss:20b', { reasoning_effort: 'low' }],
    ['openai', 'gpt-5-mini', { reasoning_effort: 'none' }],
    ['openai', 'o4-mini', { reasoning_effort: 'none' }],
    ['openai', 'gpt-4o', {}],
  ])('of %s turn the reasoning of %s off', (kind, model, fields) => {
    expect(thinkingFields({ kind, model }, variablesWithoutThinking({ model })).fields).toEqual(fields);
  });

  it('say which engine does not get the variables of a template', () => {
    const leavesOut = (kind: EngineKind) =>
      thinkingFields({ kind, model: 'm' }, { custom: 1, enable_thinking: true }).ignoresVariables;
    expect([leavesOut('vllm'), leavesOut('ollama'), leavesOut('openai')]).toEqual([false, true, true]);
  });
});
