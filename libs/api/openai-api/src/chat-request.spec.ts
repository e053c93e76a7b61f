import { callableTools } from './chat-tools.js';
import { AttachedFileMark, parseOrThrow } from '#platform/contracts';
import { describe, expect, it } from 'vitest';
import { wireMessage } from './chat-messages.js';
import { chatCompletionRequestSchema, ignoredFields, unusedLabels } from './chat-request.js';

const messages = [{ role: 'user', content: 'Hi' }];
const image = { type: 'image_url', image_url: { url: 'https://a.example/cat.png', detail: 'low' } };
const tool = { type: 'function', function: { name: 'add', parameters: { type: 'object' } } };
const parse = (body: unknown) => parseOrThrow(chatCompletionRequestSchema, body);

describe('chatCompletionRequestSchema', () => {
  it('takes messages as an array, as a string, and under the name of the OPEA specification', () => {
    for (const body of [{ messages }, { messages: 'Hi' }, { message: messages }, { message: 'Hi' }]) {
      expect(parse(body).messages).toEqual([{ role: 'user', content: 'Hi' }]);
    }
  });

  it('joins text parts', () => {
    const content = [
      { type: 'text', text: 'one' },
      { type: 'text', text: 'two' },
    ];
    expect(parse({ messages: [{ role: 'user', content }] }).messages[0]?.content).toBe('one\ntwo');
  });

  it('keeps images beside the text of a user', () => {
    const content = [{ type: 'text', text: 'What is it?' }, image];
    expect(parse({ messages: [{ role: 'user', content }] }).messages[0]).toEqual({
      role: 'user',
      content: 'What is it?',
      images: [{ url: 'https://a.example/cat.png', detail: 'low', param: 'messages[0].content[1]', at: 11 }],
    });
  });

  it('gives a turn with images back as it came, to whoever stored it', () => {
    const content = [{ type: 'text', text: 'What is it?' }, image];
    const [message] = parse({ messages: [{ role: 'user', content }] }).messages;
    expect(message && wireMessage(message)).toEqual({ role: 'user', content });
  });

  it('knows which part of a turn is a file, and stores its text', () => {
    const attached = { filename: 'a.txt' };
    const read = (mark: object) => {
      const content = [
        { type: 'text', text: 'a.txt:\nOne.', attached: mark },
        { type: 'text', text: 'What?' },
      ];
      return parse({ messages: [{ role: 'user', content }] }).messages[0];
    };
    const message = read(new AttachedFileMark(attached));
    expect(message).toMatchObject({
      content: 'a.txt:\nOne.\nWhat?',
      files: [{ ...attached, at: 0, length: 11 }],
    });
    // A caller cannot name its own text a file.
    expect(read(attached)).toEqual({ role: 'user', content: 'a.txt:\nOne.\nWhat?' });
    expect(message && wireMessage(message)).toEqual({ role: 'user', content: 'a.txt:\nOne.\nWhat?' });
  });

  it('keeps explicit zeros and false, and takes null as unset', () => {
    const { parameters } = parse({
      messages,
      temperature: 0,
      top_k: 0,
      logprobs: false,
      seed: null,
      stop: null,
    });
    expect(parameters).toEqual({ temperature: 0, top_k: 0, logprobs: false });
  });

  const optional = `
    model max_tokens max_completion_tokens temperature top_p top_k min_p seed stop n best_of logprobs
    top_logprobs logit_bias frequency_penalty presence_penalty repetition_penalty ignore_eos stream
    stream_options tools tool_choice functions function_call parallel_tool_calls response_format
    guided_json structured_outputs user reasoning_effort chat_template_kwargs message modalities audio
    metadata k
  `.trim();
  it('takes null as unset for every optional field', () => {
    const all = Object.fromEntries(optional.split(/\s+/).map((name) => [name, null]));
    expect(parse({ messages, ...all })).toEqual(parse({ messages }));
  });

  it.each([
    { model: '' },
    { stop: '' },
    { reasoning_effort: '' },
    { tools: [] },
    { functions: [] },
    { tools: [], functions: [], tool_choice: 'auto' },
    { max_tokens: -1 },
    { max_completion_tokens: -1 },
    { max_tokens: '-1' },
  ])('takes %j as unset', (unset) => {
    expect(parse({ messages, ...unset })).toEqual(parse({ messages }));
  });

  it('keeps the values of engines that mean all tokens, and the likeliest one', () => {
    const { parameters } = parse({ messages, top_k: -1, top_p: 0, max_tokens: 5, max_completion_tokens: -1 });
    expect(parameters).toEqual({ top_k: -1, top_p: 0 });
  });

  it.each([
    [{ max_tokens: 0 }, 'max_tokens'],
    [{ max_tokens: -2 }, 'max_tokens'],
    [{ max_completion_tokens: 0 }, 'max_completion_tokens'],
    [{ top_k: -2 }, 'top_k'],
    [{ top_p: -0.1 }, 'top_p'],
    [{ stop: [''] }, 'stop[0]'],
  ])('refuses %j', (wrong, param) => {
    expect(() => parse({ messages, ...wrong })).toThrow(expect.objectContaining({ status: 400, param }));
  });

  it('prefers max_completion_tokens', () => {
    expect(parse({ messages, max_tokens: 5, max_completion_tokens: 7 }).parameters.max_tokens).toBe(7);
  });

  it.each([
    [{}, 'messages'],
    [{ messages: [] }, 'messages'],
    [{ messages: [{ role: 'king', content: 'x' }] }, 'messages[0].role'],
    [{ messages, temperature: 3 }, 'temperature'],
    [{ messages, n: 0 }, 'n'],
    [{ messages, logit_bias: { abc: 1 } }, 'logit_bias.abc'],
    [{ messages, top_logprobs: 2 }, 'top_logprobs'],
    [{ messages, n: 3, best_of: 2 }, 'best_of'],
    [{ messages, best_of: 2, stream: true }, 'best_of'],
    [{ messages: [{ role: 'tool', content: 'x' }] }, 'messages[0].tool_call_id'],
    [{ messages, tools: [{ type: 'function', function: {} }] }, 'tools[0].function.name'],
    [{ messages, tools: [{ type: 'image_generation' }] }, 'tools[0].type'],
    [{ messages, tools: [tool, tool] }, 'tools[1]'],
    [{ messages, tool_choice: 'required' }, 'tool_choice'],
    [
      { messages, tools: [tool], tool_choice: { type: 'function', function: { name: 'fly' } } },
      'tool_choice',
    ],
    [{ messages, tools: [tool], functions: [{ name: 'add' }] }, 'functions'],
    [{ messages, response_format: { type: 'xml' } }, 'response_format.type'],
    [{ messages, guided_json: '{' }, 'guided_json'],
    [{ messages, guided_regex: 'a', response_format: { type: 'json_object' } }, 'guided_regex'],
    [{ messages, structured_outputs: { structural_tag: '{}' } }, 'structured_outputs.structural_tag'],
    [{ messages, stream_options: { include_usage: 'maybe' } }, 'stream_options.include_usage'],
    [
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: {} }] }] },
      'messages[0].content[0].image_url.url',
    ],
    [{ messages: [{ role: 'user', content: [{ type: 'video_url' }] }] }, 'messages[0].content[0]'],
    [{ messages: [{ role: 'system', content: [image] }] }, 'messages[0].content[0]'],
  ])('names the field that is wrong: %j', (body, param) => {
    expect(() => parse(body)).toThrow(expect.objectContaining({ status: 400, param }));
  });
});

describe('tools and forms in a chat request', () => {
  it('takes the present fields', () => {
    const body = {
      messages,
      tools: [tool, { type: 'custom', custom: { name: 'patch' } }],
      tool_choice: {
        type: 'allowed_tools',
        allowed_tools: { mode: 'required', tools: [{ type: 'custom', custom: { name: 'patch' } }] },
      },
      parallel_tool_calls: false,
      reasoning_effort: 'low',
    };
    expect(parse(body)).toMatchObject({
      tools: [
        { type: 'function', name: 'add', parameters: { type: 'object' } },
        { type: 'custom', name: 'patch' },
      ],
      toolChoice: { mode: 'required', names: ['patch'] },
      parallelToolCalls: false,
      reasoningEffort: { value: 'low', field: 'reasoning_effort' },
    });
  });

  it('takes tools of the gateway apart, and names them where they are not run', () => {
    const entries = [{ type: 'search', collection: 'a' }, tool];
    const request = parse({ messages, tools: entries, max_tool_calls: 3, tool_choice: 'required' });
    expect(request).toMatchObject({
      tools: [{ name: 'add' }],
      serverTools: [{ entry: { type: 'search', collection: 'a' }, param: 'tools[0]' }],
      maxToolCalls: 3,
    });
    const model = { id: 'm', callsTools: true };
    expect(callableTools(request, model, true).ignored).toEqual([]);
    const { request: rest, ignored } = callableTools(request, model);
    expect([rest.serverTools, ignored]).toEqual([undefined, ['tools.search', 'max_tool_calls']]);
    const only = parse({ messages, tools: [{ type: 'open' }], tool_choice: 'required' });
    expect(() => callableTools(only, model)).toThrow('does not run tools of the server');
    expect(() => parse({ messages, tools: [{ type: 'open' }, { type: 'open' }] })).toThrow('another tool');
  });

  it('takes the deprecated ones', () => {
    const functions = [{ name: 'add' }];
    expect(parse({ messages, functions, function_call: { name: 'add' } })).toMatchObject({
      tools: [{ type: 'function', name: 'add' }],
      toolChoice: { mode: 'required', names: ['add'] },
      parallelToolCalls: false,
      legacyFunctions: true,
    });
  });

  it('takes calls and results of earlier turns, deprecated ones too', () => {
    const turns = [
      {
        role: 'assistant',
        reasoning_content: 'Hm.',
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'add', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'a', content: '1' },
      { role: 'assistant', content: null, function_call: { name: 'add', arguments: '{}' } },
      { role: 'function', name: 'add', content: '2' },
    ];
    expect(parse({ messages: turns }).messages).toEqual([
      {
        role: 'assistant',
        content: '',
        reasoning: 'Hm.',
        toolCalls: [{ id: 'a', name: 'add', input: '{}' }],
      },
      { role: 'tool', content: '1', toolCallId: 'a' },
      { role: 'assistant', content: '', toolCalls: [{ id: 'call_2', name: 'add', input: '{}' }] },
      { role: 'tool', content: '2', name: 'add', toolCallId: 'call_2' },
    ]);
  });

  const schema = { type: 'object' };
  it.each([
    [{ response_format: { type: 'text' } }, undefined],
    [
      { response_format: { type: 'json_object' } },
      { type: 'json_object', at: 'response_format.json_schema.schema' },
    ],
    [
      { response_format: { type: 'json_schema', json_schema: { name: 'n', schema, strict: true } } },
      { type: 'json_schema', schema, at: 'response_format.json_schema.schema' },
    ],
    [{ guided_json: schema }, { type: 'json_schema', schema, at: 'guided_json' }],
    [{ guided_json: '{"type":"object"}' }, { type: 'json_schema', schema, at: 'guided_json' }],
    [{ guided_regex: '[ab]+' }, { type: 'regex', pattern: '[ab]+', at: 'guided_regex' }],
    [{ guided_choice: ['a', 'b'] }, { type: 'choice', choices: ['a', 'b'], at: 'guided_choice' }],
    [{ guided_grammar: 'root ::= "a"' }, { type: 'grammar', grammar: 'root ::= "a"', at: 'guided_grammar' }],
    [
      { structured_outputs: { choice: ['a'] } },
      { type: 'choice', choices: ['a'], at: 'structured_outputs.choice' },
    ],
    [
      { structured_outputs: { json_object: true } },
      { type: 'json_object', at: 'structured_outputs.json_object' },
    ],
  ])('holds the answer to %j, and says where that stands', (fields, constraint) => {
    expect(parse({ messages, ...fields }).parameters.constraint).toEqual(constraint);
  });
});

describe('labels of a request', () => {
  const { labels } = parse({ messages, user: 'u', safety_identifier: 's', prompt_cache_key: 'k' });

  it('are no parameters, and are ignored only where nobody looks at them', () => {
    expect(labels).toEqual({ user: 'u', safety_identifier: 's', prompt_cache_key: 'k' });
    expect(parse({ messages, user: null }).labels).toBeUndefined();
    expect(unusedLabels(labels, { templateVariables: [] })).toEqual(['prompt_cache_key']);
    expect(unusedLabels(labels, undefined)).toEqual(['prompt_cache_key']);
    expect(unusedLabels(labels, {})).toEqual([]);
    expect(unusedLabels({ user: 'u' }, { templateVariables: [] })).toEqual([]);
  });
});

describe('ignoredFields', () => {
  it('lists what has no effect', () => {
    expect(ignoredFields({ user: 'me', store: false, k: 3 }, new Set(['k']))).toEqual(['user', 'store']);
  });

  it.each([{ modalities: ['text', 'audio'] }])('refuses what would change the answer: %j', (extra) => {
    expect(() => ignoredFields(extra)).toThrow(expect.objectContaining({ param: Object.keys(extra)[0] }));
  });

  it.each([{ modalities: ['text'] }])('accepts what asks for nothing: %j', (extra) => {
    expect(ignoredFields(extra)).toEqual(Object.keys(extra));
  });
});
