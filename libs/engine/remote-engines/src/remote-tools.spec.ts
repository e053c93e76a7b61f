import type { ChatMessage, Tool, ToolChoice } from '#platform/contracts';
import { afterEach, describe, expect, it } from 'vitest';
import type { GenerationEvent } from '#engine/generation';
import { sendJson, startEngine, type TestEngine } from './engine.fixture.js';
import { openRemoteGenerator } from './remote-generator.js';

const parameters = { type: 'object', properties: { a: { type: 'number' } } };
const add: Tool = { type: 'function', name: 'add', description: 'Adds.', parameters, strict: true };
const look: Tool = { type: 'function', name: 'look' };
const patch: Tool = {
  type: 'custom',
  name: 'patch',
  description: 'Patches.',
  grammar: { syntax: 'lark', definition: 'start: "a"' },
};
const history: ChatMessage[] = [
  { role: 'user', content: 'Add and patch.' },
  {
    role: 'assistant',
    content: '',
    reasoning: 'Hm.',
    toolCalls: [
      { id: 'call_1', name: 'add', input: '{"a":1}' },
      { id: 'call_2', name: 'patch', input: '+ a' },
    ],
  },
  { role: 'tool', content: '1', toolCallId: 'call_1' },
  { role: 'tool', content: 'done', toolCallId: 'call_2' },
];

const frame = (delta: object, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
const call = (index: number, more: object) => frame({ tool_calls: [{ index, ...more }] });

describe('tools of a remote engine, over HTTP', () => {
  let engine: TestEngine | undefined;
  afterEach(() => engine?.close());

  async function ask(
    frames: string[],
    request: { tools: Tool[]; toolChoice?: ToolChoice; messages?: ChatMessage[] },
  ) {
    engine = await startEngine({
      '/v1/models': (response) => sendJson(response, { data: [{ id: 'caller' }] }),
      '/v1/chat/completions': (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(`${frames.join('')}data: [DONE]\n\n`);
      },
    });
    const generator = await openRemoteGenerator({ endpoint: engine.url });
    const events: GenerationEvent[] = [];
    const asked = { messages: history, parameters: {}, parallelToolCalls: false, ...request };
    for await (const event of generator.generate(asked)) events.push(event);
    const body = engine.requests.find(({ path }) => path === '/v1/chat/completions')?.body ?? {};
    return { events, body };
  }

  it('go out without unpaired surrogates in the arguments of earlier calls', async () => {
    const input = String.raw`{"a":"\ud83d","b":"\ud83d\ude00"}`;
    const toolCalls = [{ id: 'call_1', name: 'add', input }];
    const messages = history.map((one) => (one.toolCalls ? { ...one, toolCalls } : one));
    const { body } = await ask([frame({ content: 'ok' }, 'stop')], { tools: [add], messages });
    const [, { tool_calls: sent }] = body['messages'] as [
      unknown,
      { tool_calls: { function: { arguments: string } }[] },
    ];
    expect(JSON.parse(sent[0]!.function.arguments)).toEqual({ a: '\ufffd', b: '\u{1F600}' });
  });

  it("go out in OpenAI's form, custom ones as functions of one text, with earlier calls and results", async () => {
    const { body } = await ask([frame({ content: 'ok' }, 'stop')], { tools: [add, patch] });
    const text = { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] };
    expect(body).toMatchObject({
      parallel_tool_calls: false,
      tool_choice: 'auto',
      tools: [
        { type: 'function', function: { name: 'add', description: 'Adds.', parameters, strict: true } },
        { type: 'function', function: { name: 'patch', description: 'Patches.', parameters: text } },
      ],
    });
    const functionCall = (id: string, name: string, input: string) => ({
      id,
      type: 'function',
      function: { name, arguments: input },
    });
    expect(body['messages']).toEqual([
      { role: 'user', content: 'Add and patch.' },
      {
        role: 'assistant',
        content: null,
        reasoning_content: 'Hm.',
        tool_calls: [
          functionCall('call_1', 'add', '{"a":1}'),
          functionCall('call_2', 'patch', '{"input":"+ a"}'),
        ],
      },
      { role: 'tool', content: '1', tool_call_id: 'call_1' },
      { role: 'tool', content: 'done', tool_call_id: 'call_2' },
    ]);
  });

  it.each<[ToolChoice, unknown, string[]]>([
    [{ mode: 'required' }, 'required', ['add', 'look']],
    [{ mode: 'none' }, 'none', ['add', 'look']],
    [{ mode: 'auto', names: ['look'] }, 'auto', ['look']],
    [{ mode: 'required', names: ['add', 'look'] }, 'required', ['add', 'look']],
    [{ mode: 'required', names: ['add'] }, { type: 'function', function: { name: 'add' } }, ['add']],
  ])('are offered as the choice %j allows', async (toolChoice, tool_choice, names) => {
    const { body } = await ask([frame({ content: 'ok' }, 'stop')], { tools: [add, look], toolChoice });
    expect(body['tool_choice']).toEqual(tool_choice);
    const offered = body['tools'] as { function: { name: string; parameters: object } }[];
    expect(offered.map((tool) => tool.function.name)).toEqual(names);
    for (const { function: offer } of offered) expect(offer.parameters).toMatchObject({ type: 'object' });
  });

  it('come back as calls in pieces, beside what is said and thought', async () => {
    const frames = [
      frame({ reasoning_content: 'Two.' }),
      frame({ content: 'Now.' }),
      call(0, { id: 'call_3', type: 'function', function: { name: 'add', arguments: '' } }),
      call(0, { function: { arguments: '{"a":' } }),
      call(0, { function: { arguments: '2}' } }),
      call(1, { id: 'call_4', function: { name: 'look', arguments: '{}' } }),
      frame({}, 'tool_calls'),
    ];
    const { events } = await ask(frames, { tools: [add, look] });
    expect(events.flatMap(({ toolCalls = [] }) => toolCalls)).toEqual([
      { index: 0, id: 'call_3', name: 'add', input: '' },
      { index: 0, input: '{"a":' },
      { index: 0, input: '2}' },
      { index: 1, id: 'call_4', name: 'look', input: '{}' },
    ]);
    expect(events[0]).toMatchObject({ reasoning: 'Two.', text: '' });
    expect(events[1]).toMatchObject({ text: 'Now.' });
    expect(events.at(-1)).toMatchObject({ finishReason: 'tool_calls' });
  });
});
