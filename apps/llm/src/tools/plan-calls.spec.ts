import type { ChatMessage, Tool } from '#platform/contracts';
import { describe, expect, it } from 'vitest';
import type { ChatTemplate, GenerationEvent } from '#engine/generation';
import { checksHere } from '../forms/form-checks.fixture.js';
import { planCalls as planWith, templateVariables, type CallOptions } from './plan-calls.js';

const planCalls = (
  ...[messages, options, template]: [ChatMessage[], CallOptions, ChatTemplate | undefined]
) => planWith(messages, options, template, checksHere);

const add: Tool = {
  type: 'function',
  name: 'add',
  parameters: { type: 'object', properties: { a: { type: 'number' } } },
  strict: true,
};
const patch: Tool = { type: 'custom', name: 'patch', grammar: { syntax: 'regex', definition: '[+-].*' } };
const question: ChatMessage = { role: 'user', content: 'How much?' };
const history: ChatMessage[] = [
  question,
  { role: 'assistant', content: '', toolCalls: [{ id: 'call_1', name: 'add', input: '{"a": 1}' }] },
  { role: 'tool', content: '1', toolCallId: 'call_1' },
];

const templateOf = (source: string, rendered = ''): ChatTemplate => ({ source, render: () => rendered });
const qwen = templateOf('{{ tools }} <tool_call> {% if enable_thinking %} <think></think>');
const plain = templateOf('{{ messages }}');
const qwenCoder = templateOf('{{ tools }} <tool_call> <function=name>');
const mistral = templateOf('[AVAILABLE_TOOLS] {{ tools }} [TOOL_CALLS] [');
const llama = templateOf('"parameters": ipython {{ tools }}');

async function readAll(plan: ReturnType<typeof planCalls>, texts: string[]): Promise<GenerationEvent[]> {
  async function* events(): AsyncGenerator<GenerationEvent> {
    for (const [index, text] of texts.entries()) {
      await Promise.resolve();
      const last = index === texts.length - 1;
      const usage = { promptTokens: 1, completionTokens: texts.length, cachedTokens: 0 };
      yield { choice: 0, text, tokenIds: [index], ...(last && { finishReason: 'stop', usage }) };
    }
  }
  const all: GenerationEvent[] = [];
  for await (const event of plan.read(events())) all.push(event);
  return all;
}

describe('planCalls', () => {
  it('leaves a chat without tools as it is', () => {
    const plan = planCalls([question], {}, plain);
    expect(plan).toMatchObject({ messages: [question] });
    expect(plan.constraint).toBeUndefined();
    expect(plan.chatTemplateKwargs).toBeUndefined();
  });

  it('gives the tools to a template that knows them, and holds calls to their schema', () => {
    const plan = planCalls(history, { tools: [add] }, qwen);
    expect(plan.messages).toEqual(history);
    expect(plan.chatTemplateKwargs?.['tools']).toEqual([
      { type: 'function', function: { name: 'add', description: '', parameters: add.parameters } },
    ]);
    expect(plan.constraint).toEqual({
      type: 'structural_tag',
      triggers: ['<tool_call>'],
      tags: [
        {
          begin: '<tool_call>\n{"name": "add", "arguments": ',
          end: '}\n</tool_call>',
          schema: add.parameters,
          at: 'tools[0].parameters',
        },
      ],
      required: false,
      single: false,
    });
  });

  it('describes the tools, and tells calls and results as text, where the template knows none', () => {
    const { messages, chatTemplateKwargs } = planCalls(history, { tools: [add] }, plain);
    expect(messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user']);
    expect(messages[0]?.content).toContain('"name":"add"');
    expect(messages[2]).toEqual({
      role: 'assistant',
      content: '<tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>',
    });
    expect(messages[3]?.content).toBe('<tool_response>\n1\n</tool_response>');
    expect(chatTemplateKwargs).toBeUndefined();
  });

  it.each<[string, CallOptions, object]>([
    ['demands a call', { tool_choice: { mode: 'required' } }, { required: true }],
    ['allows one call', { parallel_tool_calls: false }, { single: true }],
    ['allows named tools', { tool_choice: { mode: 'auto', names: ['add'] } }, { tags: [{}] }],
  ])('%s', (_name, options, expected) => {
    const { constraint } = planCalls([question], { tools: [add, patch], ...options }, plain);
    expect(constraint).toMatchObject(expected);
  });

  it('shows no tools where none may be called', () => {
    const options: CallOptions = { tools: [add], tool_choice: { mode: 'none' } };
    expect(planCalls([question], options, plain).messages).toEqual([question]);
  });

  it.each([
    [{ mode: 'required' as const, names: ['fly'] }, [add]],
    [{ mode: 'required' as const }, []],
  ])('refuses the choice %j', (tool_choice, tools) => {
    expect(() => planCalls([question], { tools, tool_choice }, plain)).toThrow(
      expect.objectContaining({ code: 'invalid_request', param: 'tool_choice' }),
    );
  });

  it("holds a custom tool's input to its regular expression", () => {
    const { constraint } = planCalls([question], { tools: [patch] }, plain);
    expect(constraint).toMatchObject({
      tags: [{ schema: { properties: { input: { type: 'string', pattern: '^(?:[+-].*)$' } } } }],
    });
  });

  it("holds a custom tool's input to its Lark grammar", () => {
    const definition = 'start: "a"';
    const lark: Tool = { type: 'custom', name: 'patch', grammar: { syntax: 'lark', definition } };
    const begin = '<tool_call>{"name": "patch", "arguments": {"input": "';
    expect(planCalls([question], { tools: [lark] }, plain).constraint).toMatchObject({
      tags: [{ begin, end: '"}}</tool_call>', lark: definition }],
    });
    expect(planCalls([question], { tools: [lark, add] }, qwenCoder).constraint).toMatchObject({
      triggers: ['<tool_call>'],
      tags: [
        {
          begin: '<tool_call>\n<function=patch>\n<parameter=input>\n',
          end: '\n</parameter>\n</function>\n</tool_call>',
          lark: definition,
          raw: true,
        },
        { begin: '<tool_call>\n<function=add>\n', parameters: add.parameters },
      ],
    });
  });

  it.each([
    [undefined, 'tools[1].grammar.definition'],
    ['tools[3].custom.format.grammar.definition', 'tools[3].custom.format.grammar.definition'],
  ])('says that a tool with the path %s stands at %s', (at, path) => {
    const grammar = { syntax: 'lark' as const, definition: 'x' };
    const lark: Tool = { type: 'custom', name: 'patch', grammar, at };
    const tool_choice = { mode: 'auto' as const, names: ['patch'] };
    const { constraint } = planCalls([question], { tools: [add, lark], tool_choice }, plain);
    expect(constraint).toMatchObject({ tags: [{ at: path, derived: true }] });
  });

  it('writes calls as Mistral does, with ids that its template takes', () => {
    const { constraint, messages } = planCalls(history, { tools: [add] }, mistral);
    expect(constraint).toMatchObject({
      triggers: ['[TOOL_CALLS]'],
      tags: [{ begin: '[TOOL_CALLS] [{"name": "add", "arguments": ', end: '}]' }],
    });
    const id = messages[1]?.toolCalls?.[0]?.id;
    expect(id).toMatch(/^[0-9a-f]{9}$/);
    expect(messages[2]?.toolCallId).toBe(id);
  });

  it('lets the model call or answer in the form that is asked for', async () => {
    const options: CallOptions = {
      tools: [add],
      constraint: { type: 'json_schema', schema: { type: 'object' } },
    };
    const plan = planCalls([question], options, plain);
    expect(plan.constraint).toMatchObject({
      required: true,
      tags: [{}, { begin: '<answer>', end: '</answer>', schema: { type: 'object' } }],
    });
    const events = await readAll(plan, ['<answer>', '{"a"', ': 1}', '</answer>']);
    expect(events.map(({ text }) => text).join('')).toBe('{"a": 1}');
    expect(events.at(-1)?.finishReason).toBe('stop');
  });

  it('does not let a model think first that is held to a form', () => {
    const constraint = { type: 'json_object' as const };
    expect(planCalls([question], { constraint }, qwen).chatTemplateKwargs).toEqual({
      enable_thinking: false,
    });
    expect(planCalls([question], {}, qwen).chatTemplateKwargs).toBeUndefined();
    const quoting = { grounded: true };
    expect(planCalls([question], quoting, qwen).chatTemplateKwargs).toEqual({ enable_thinking: false });
    expect(planCalls([question], quoting, plain).chatTemplateKwargs).toBeUndefined();
    const asked = { ...quoting, chat_template_kwargs: { enable_thinking: true } };
    expect(planCalls([question], asked, qwen).chatTemplateKwargs).toEqual({ enable_thinking: true });
  });

  it('tells thoughts, text and calls apart, and counts the tokens of thoughts', async () => {
    const opened = templateOf(qwen.source, '<|im_start|>assistant\n<think>\n');
    const plan = planCalls([question], { tools: [add] }, opened);
    const events = await readAll(plan, [
      'A sum.',
      '</think>\n\n',
      'Wait. ',
      '<tool_call>\n{"name": "add", ',
      '"arguments": {"a": 1}}\n</tool_call>',
    ]);
    expect(events.map(({ reasoning }) => reasoning ?? '').join('')).toBe('A sum.');
    expect(events.map(({ text }) => text).join('')).toBe('Wait.');
    expect(
      events
        .flatMap(({ toolCalls = [] }) => toolCalls)
        .map(({ input }) => input)
        .join(''),
    ).toBe('{"a": 1}');
    expect(events.at(-1)).toMatchObject({ finishReason: 'tool_calls', usage: { reasoningTokens: 2 } });
  });

  it('writes calls as Llama does', () => {
    const { constraint } = planCalls([question], { tools: [add] }, llama);
    expect(constraint).toMatchObject({
      triggers: ['{"name": "'],
      tags: [{ begin: '{"name": "add", "parameters": ', end: '}' }],
    });
  });

  it('leaves the tools to an engine that knows its own template', async () => {
    const plan = planCalls(history, { tools: [add, patch], parallel_tool_calls: false }, undefined);
    expect(plan.messages).toEqual(history);
    expect(plan.native).toMatchObject({ tools: [add, patch], parallelToolCalls: false });
    async function* events(): AsyncGenerator<GenerationEvent> {
      await Promise.resolve();
      yield { choice: 0, text: '', tokenIds: [], toolCalls: [{ index: 0, name: 'patch', input: '{"inp' }] };
      yield { choice: 0, text: '', tokenIds: [], toolCalls: [{ index: 0, input: 'ut": "+a"}' }] };
      yield { choice: 0, text: '', tokenIds: [], finishReason: 'stop' };
    }
    const read: GenerationEvent[] = [];
    for await (const event of plan.read(events())) read.push(event);
    expect(read.flatMap(({ toolCalls = [] }) => toolCalls).map(({ input }) => input)).toEqual(['', '+a']);
    expect(read.at(-1)?.finishReason).toBe('tool_calls');
  });

  it('knows what a template understands', () => {
    expect(templateVariables(qwen.source)).toEqual(['tools', 'enable_thinking']);
    expect(templateVariables(plain.source)).toEqual([]);
  });

  it('separates the reasoning that an engine leaves in the text', async () => {
    const plan = planCalls([question], { constraint: { type: 'json_object' } }, undefined);
    const events = await readAll(plan, ['<th', 'ink>', 'a plan [1]', '</think>\n\n', '{"a"', ':1}']);
    expect(events.map(({ reasoning = '' }) => reasoning).join('')).toBe('a plan [1]');
    expect(events.map(({ text }) => text).join('')).toBe('{"a":1}');
  });
});
