import { MegaNestError, parseOrThrow } from '#platform/contracts';
import type OpenAI from 'openai';
import { describe, expect, expectTypeOf, it } from 'vitest';
import type { ResponseEvent } from '../log/events.js';
import type { ResponseObject } from '../response-object.js';
import { createResponseSchema } from './create-response.js';

const parse = (body: unknown) => parseOrThrow(createResponseSchema, body);

function refusal(body: unknown): { code: string; param: string | null } {
  try {
    parse(body);
  } catch (error) {
    if (error instanceof MegaNestError) return { code: error.code, param: error.param };
    throw error;
  }
  throw new Error('It was accepted');
}

describe('createResponseSchema', () => {
  it('turns a string into one user message with an id', () => {
    expect(parse({ input: 'Hello' }).input).toEqual([
      {
        type: 'message',
        id: expect.stringMatching(/^msg_[0-9a-f]{48}$/) as string,
        role: 'user',
        status: 'completed',
        content: [{ type: 'input_text', text: 'Hello' }],
      },
    ]);
  });

  it.each([
    {
      model: null,
      instructions: null,
      tools: null,
      tool_choice: null,
      text: null,
      reasoning: null,
      stop: null,
    },
    {
      temperature: null,
      top_p: null,
      top_k: null,
      max_output_tokens: null,
      max_tool_calls: null,
      include: null,
    },
    {
      model: '',
      stop: '',
      previous_response_id: '',
      conversation: '',
      reasoning: { effort: '', summary: '' },
    },
    { max_output_tokens: -1, best_of: 1, n: 1, modalities: ['text'], functions: [] },
  ])('takes %j as unset', (unset) => {
    const without = (body: object) => ({ ...parse({ input: 'Hello', ...body }), input: [] });
    expect(without(unset)).toEqual(without({}));
  });

  it('keeps the values of engines that mean all tokens, and the likeliest one', () => {
    expect(parse({ input: 'Hello', top_k: -1, top_p: 0 })).toMatchObject({
      parameters: { top_k: -1, top_p: 0 },
      settings: { top_p: 0 },
    });
    expect(refusal({ input: 'x', max_output_tokens: 0 }).param).toBe('max_output_tokens');
    expect(refusal({ input: 'x', best_of: 2 }).param).toBe('best_of');
  });

  it('completes items as clients replay them: without type, id, status, with null or string content', () => {
    const { input } = parse({
      input: [
        { role: 'user', content: 'one' },
        { type: null, role: 'assistant', content: 'two', id: null, status: null, phase: 'commentary' },
        { role: 'assistant', content: [{ type: 'output_text', text: 'three' }] },
        { id: 'msg_1' },
        { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c', output: 'ok' },
        { type: 'reasoning', summary: [] },
      ],
    });
    expect(input.map(({ type }) => type)).toEqual([
      'message',
      'message',
      'message',
      'item_reference',
      'function_call',
      'function_call_output',
      'reasoning',
    ]);
    expect(input[1]).toMatchObject({ phase: 'commentary', status: 'completed', content: [{ text: 'two' }] });
    expect(input[2]).toMatchObject({ content: [{ type: 'output_text', annotations: [], logprobs: [] }] });
    expect(input[4]).toMatchObject({ status: 'completed', id: expect.stringMatching(/^fc_/) as string });
  });

  it('treats null as unset', () => {
    const nulls = { temperature: null, tools: null, metadata: null, text: null, include: null, stop: null };
    const { settings, parameters, ignored } = parse({ input: 'x', ...nulls });
    expect(settings).toMatchObject({ temperature: 1, tools: [], metadata: {}, top_logprobs: 0 });
    expect(parameters).toEqual({});
    expect(ignored).toEqual([]);
  });

  it('completes function tools and echoes tools of any type', () => {
    const tools = [
      { type: 'function', name: 'f' },
      { type: 'namespace', name: 'mcp', tools: [] },
    ];
    const { settings } = parse({ input: 'x', tools });
    expect(settings.tools).toEqual([
      { type: 'function', name: 'f', description: null, parameters: null, strict: null },
      tools[1],
    ]);
  });

  it('asks for logprobs by include or by top_logprobs', () => {
    expect(parse({ include: ['message.output_text.logprobs'] }).parameters).toEqual({ logprobs: true });
    expect(parse({ top_logprobs: 2 }).parameters).toEqual({ logprobs: true, top_logprobs: 2 });
  });

  it('holds the answer to the format that it repeats', () => {
    const schema = { type: 'object' };
    const { settings, parameters } = parse({ text: { format: { type: 'json_schema', name: 'n', schema } } });
    expect(settings.text.format).toEqual({
      type: 'json_schema',
      name: 'n',
      description: '',
      schema,
      strict: false,
    });
    expect(parameters.constraint).toEqual({ type: 'json_schema', schema, at: 'text.format.schema' });
    expect(parse({ text: { format: { type: 'json_object' } } }).parameters).toEqual({
      constraint: { type: 'json_object', at: 'text.format' },
    });
  });

  it('keeps what it does not know for the mega service', () => {
    expect(parse({ input: 'x', k: 3, 'retrieval.k': 4 }).extra).toEqual({ k: 3, 'retrieval.k': 4 });
  });

  it('names what it accepted without effect', () => {
    const body = {
      service_tier: 'flex',
      text: { format: { type: 'text' }, verbosity: 'low' },
      reasoning: { effort: 'high', summary: 'auto' },
      include: ['web_search_call.results', 'file_search_call.results'],
      stream_options: { include_obfuscation: true },
    };
    expect(parse(body).ignored.sort()).toEqual([
      'include.web_search_call.results',
      'reasoning.summary',
      'stream_options.include_obfuscation',
    ]);
    // An engine gets them; the gateway names them for models without an engine.
    expect(parse(body).labels).toEqual({ service_tier: 'flex', verbosity: 'low' });
  });

  it.each([
    [{ input: 5 }, 'invalid_request', 'input'],
    [
      { input: [{ role: 'user', content: [{ type: 'input_text' }] }] },
      'invalid_request',
      'input[0].content[0].text',
    ],
    [{ input: [{ id: 'x'.repeat(257) }] }, 'invalid_request', 'input[0].id'],
    [{ input: [{ role: 'robot', content: 'x' }] }, 'invalid_request', 'input[0].role'],
    [{ input: [{ type: 'function_call', name: 'f' }] }, 'invalid_request', 'input[0].call_id'],
    [{ input: [{ type: 'function_call_output', call_id: 'c' }] }, 'invalid_request', 'input[0].output'],
    [{ tools: [{ type: 'function' }] }, 'invalid_request', 'tools[0].name'],
    [{ temperature: 3 }, 'invalid_request', 'temperature'],
    [{ max_output_tokens: 0 }, 'invalid_request', 'max_output_tokens'],
    [{ include: ['everything'] }, 'invalid_request', 'include[0]'],
    [{ metadata: { a: 1 } }, 'invalid_request', 'metadata.a'],
    [{ store: false, background: true }, 'invalid_request', 'background'],
    [{ tool_choice: 'sometimes' }, 'invalid_request', 'tool_choice'],
    [{ text: { format: { type: 'json_schema', name: 'n' } } }, 'invalid_request', 'text.format.schema'],
    [{ text: { format: { type: 'xml' } } }, 'invalid_request', 'text.format.type'],
    [{ prompt: { id: 'pmpt_1' } }, 'unsupported_parameter', 'prompt'],
    [{ n: 2 }, 'unsupported_parameter', 'n'],
    [
      { previous_response_id: 'resp_1', conversation: 'conv_1' },
      'mutually_exclusive_parameters',
      'previous_response_id',
    ],
  ])('refuses %j', (body, code, param) => {
    expect(refusal(body)).toEqual({ code, param });
  });
});

describe('the shapes', () => {
  it("fit the openai package's types", () => {
    expectTypeOf<
      Extract<ResponseEvent, { type: 'response.output_text.delta' }>
    >().toExtend<OpenAI.Responses.ResponseTextDeltaEvent>();
    // The package still has the error of an mcp_call as a string; the document has it as an object.
    type Item = Exclude<ResponseObject['output'][number], { type: 'mcp_call' }>;
    expectTypeOf<Item>().toExtend<OpenAI.Responses.ResponseOutputItem>();
    expectTypeOf<ResponseObject['usage']>().toExtend<OpenAI.Responses.ResponseUsage>();
    expectTypeOf<ResponseObject['status']>().toExtend<OpenAI.Responses.ResponseStatus>();
  });
});
