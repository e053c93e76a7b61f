import { MegaNestError, type ChatMessage, type GenerationChunk, type ToolCall } from '#platform/contracts';
import {
  createResponseSchema,
  newResponse,
  ResponseMachine,
  responseFromEvents,
  type McpCall,
  type ResponseEvent,
  type ToolStep,
} from '#api/responses';
import { describe, expect, it } from 'vitest';
import type { ServerTool, ServerToolSource, ToolContext, ToolOutcome } from './server-tool.js';
import { toolLoop, type GenerationTurn } from './tool-loop.js';

const question: ChatMessage = { role: 'user', content: 'How much?' };

/** A turn of a scripted model: words, or calls by name and input. */
type Turn = string | [name: string, input: string][];

function chunksOf(turn: Turn): GenerationChunk[] {
  const usage = { promptTokens: 1, completionTokens: 1, cachedTokens: 0 };
  if (typeof turn === 'string') return [{ choice: 0, text: turn, finishReason: 'stop', usage }];
  const toolCalls = turn.map(([name, input], index) => ({ index, id: `call_${name}`, name, input }));
  return [
    { choice: 0, text: '', toolCalls },
    { choice: 0, text: '', finishReason: 'tool_calls', usage },
  ];
}

interface ScriptedCall {
  steps?: (call: ToolCall) => ToolStep[];
  outcome?: (call: ToolCall, context: ToolContext) => ToolOutcome;
}

const mcpCall = (call: ToolCall): McpCall => ({
  id: `mcp_${call.id}`,
  type: 'mcp_call',
  status: 'in_progress',
  server_label: 'sums',
  name: call.name,
  arguments: '',
  output: null,
  error: null,
  approval_request_id: null,
});

/** Shows each call as an mcp_call and answers "5". */
function scriptedTool(name: string, { steps, outcome }: ScriptedCall = {}): ServerTool {
  return {
    definition: { type: 'function', name },
    async *call(call, context) {
      const item = mcpCall(call);
      yield { type: 'item_added', item };
      yield { type: 'item_progress', id: item.id, phase: 'in_progress' };
      yield { type: 'item_arguments', id: item.id, arguments: call.input };
      yield* steps?.(call) ?? [];
      await Promise.resolve();
      yield { type: 'item_progress', id: item.id, phase: 'completed' };
      const done: McpCall = { ...item, status: 'completed', arguments: call.input, output: '5' };
      yield { type: 'item_done', item: done };
      return outcome?.(call, context) ?? { output: '5' };
    },
  };
}

const sourceOf = (...tools: ServerTool[]): ServerToolSource => ({
  type: 'mcp',
  check: () => undefined,
  async *open() {
    await Promise.resolve();
    yield* [];
    return { tools };
  },
});

interface Setup {
  turns: Turn[];
  source: ServerToolSource;
  body?: Record<string, unknown>;
  callsTools?: boolean;
}

/** Runs a response to its end: what the model was asked, and the log. */
async function run({ turns, source, body = {}, callsTools = true }: Setup) {
  const { settings } = createResponseSchema.parse({
    input: 'How much?',
    tools: [
      { type: 'mcp', server_label: 'sums' },
      { type: 'function', name: 'pay' },
    ],
    ...body,
  });
  const response = newResponse({ id: 'resp_1', createdAt: 1, model: 'm', settings, status: 'in_progress' });
  const asked: GenerationTurn[] = [];
  async function* generate(turn: GenerationTurn) {
    asked.push(turn);
    await Promise.resolve();
    yield* chunksOf(turns[turn.number] ?? 'The script has ended.');
  }
  const call = { requestId: 'r', deadline: Infinity, traceparent: '', signal: new AbortController().signal };
  const nothingKept = {
    takesImages: false,
    degraded: new Set<string>(),
    items: [],
    secrets: new Map<string, never>(),
    atEnd: () => undefined,
  };
  const context = { owner: 'me', include: new Set<never>(), messages: [question], ...nothingKept, call };
  const machine = new ResponseMachine(response);
  const log: ResponseEvent[] = [...machine.create(), ...machine.progress()];
  const findSource = (type: string) => (type === source.type ? source : undefined);
  for await (const step of toolLoop({ response, context, callsTools, findSource, generate }))
    log.push(...machine.take(step));
  log.push(...machine.end());
  return { asked, log, output: responseFromEvents(log).output, response: responseFromEvents(log) };
}

describe('toolLoop', () => {
  it('offers nothing to a model that calls no tools, and opens only those that work uncalled', async () => {
    const { asked } = await run({ turns: ['Hm.'], source: sourceOf(scriptedTool('add')), callsTools: false });
    expect(asked).toMatchObject([{ tools: [] }]);
    const tools = [{ type: 'mcp', server_label: 'sums' }];
    const open = await run({
      turns: ['Hm.'],
      source: { ...sourceOf(scriptedTool('add')), worksUncalled: true },
      body: { tools },
      callsTools: false,
    });
    expect(open.asked).toMatchObject([{ tools: [{ name: 'add' }] }]);
  });

  it('runs what the model calls and tells it the result until it answers', async () => {
    const { asked, output, response, log } = await run({
      turns: [[['add', '{"a":2}']], 'It is 5.'],
      source: sourceOf(scriptedTool('add')),
    });
    expect(asked.map(({ tools }) => tools.map(({ name }) => name))).toEqual([
      ['pay', 'add'],
      ['pay', 'add'],
    ]);
    expect(asked[1]?.messages).toEqual([
      question,
      { role: 'assistant', content: '', toolCalls: [{ id: 'call_add', name: 'add', input: '{"a":2}' }] },
      { role: 'tool', content: '5', toolCallId: 'call_add' },
    ]);
    expect(output).toMatchObject([
      { type: 'mcp_call', status: 'completed', arguments: '{"a":2}', output: '5' },
      { type: 'message', status: 'completed', content: [{ text: 'It is 5.' }] },
    ]);
    expect(response.usage).toMatchObject({ input_tokens: 2, output_tokens: 2 });
    expect(log.map(({ sequence_number }) => sequence_number)).toEqual(log.map((_event, index) => index));
  });

  it("leaves the caller's calls to the caller, and the response ends with them", async () => {
    const { asked, output } = await run({
      turns: [
        [
          ['add', '{}'],
          ['pay', '{"sum":5}'],
        ],
      ],
      source: sourceOf(scriptedTool('add')),
    });
    expect(asked).toHaveLength(1);
    expect(output).toMatchObject([
      { type: 'function_call', name: 'pay', arguments: '{"sum":5}', status: 'completed' },
      { type: 'mcp_call', name: 'add' },
    ]);
  });

  it('counts what was found without being called as the call that was demanded', async () => {
    const found = { id: 'chunk-1', text: 'It is 5.', score: 1, metadata: {} };
    const source: ServerToolSource = {
      ...sourceOf(),
      async *open() {
        await Promise.resolve();
        yield* [];
        return { tools: [], documents: [found] };
      },
    };
    const tools = [{ type: 'mcp' }];
    for (const choice of ['required', { type: 'mcp' }, 'auto']) {
      const { asked } = await run({ turns: ['It is 5.'], source, body: { tools, tool_choice: choice } });
      expect(asked).toMatchObject([{ tools: [], documents: [found] }]);
      expect(asked[0]?.toolChoice).toBeUndefined();
    }
  });

  it('ends where a call waits for the caller', async () => {
    const { asked, output } = await run({
      turns: [[['add', '{}']]],
      source: sourceOf(scriptedTool('add', { outcome: () => ({ output: undefined }) })),
    });
    expect(asked).toHaveLength(1);
    expect(output.map(({ type }) => type)).toEqual(['mcp_call', 'message']);
  });

  it("offers the server's tools no more after max_tool_calls", async () => {
    const call: Turn = [['add', '{}']];
    const { asked, output } = await run({
      turns: [call, call, 'Enough.'],
      source: sourceOf(scriptedTool('add')),
      body: { max_tool_calls: 2 },
    });
    expect(asked.map(({ tools }) => tools.length)).toEqual([2, 2, 1]);
    expect(output.map(({ type }) => type)).toEqual(['mcp_call', 'mcp_call', 'message']);
  });

  it('demands a call once', async () => {
    const { asked } = await run({
      turns: [[['add', '{}']], 'Done.'],
      source: sourceOf(scriptedTool('add')),
      body: { tool_choice: { type: 'mcp', server_label: 'sums' } },
    });
    expect(asked.map(({ toolChoice }) => toolChoice)).toEqual([
      { mode: 'required', names: ['add'] },
      { mode: 'auto' },
    ]);
  });

  it('keeps to the allowed tools in all turns', async () => {
    const tool_choice = {
      type: 'allowed_tools',
      mode: 'required',
      tools: [{ type: 'mcp', server_label: 'sums', name: 'add' }],
    };
    const { asked } = await run({
      turns: [[['add', '{}']], 'Done.'],
      source: sourceOf(scriptedTool('add'), scriptedTool('subtract')),
      body: { tool_choice },
    });
    expect(asked.map(({ toolChoice }) => toolChoice)).toEqual([
      { mode: 'required', names: ['add'] },
      { mode: 'auto', names: ['add'] },
    ]);
  });

  it('refuses a choice of what is not there', async () => {
    const body = { tool_choice: { type: 'function', name: 'fly' } };
    await expect(run({ turns: [], source: sourceOf(), body })).rejects.toThrow(MegaNestError);
  });

  it("tells a server's tool apart from another of the same name", async () => {
    const called: string[] = [];
    const note = (call: ToolCall) => {
      called.push(call.name);
      return [];
    };
    const { asked } = await run({
      turns: [[['sums__pay', '{}']], 'Done.'],
      source: sourceOf(scriptedTool('pay', { steps: note })),
    });
    expect(asked[0]?.tools.map(({ name }) => name)).toEqual(['pay', 'sums__pay']);
    expect(called).toEqual(['pay']);
  });

  it('cites passages that a tool found', async () => {
    const document = { id: 'a', text: 'It is 5.', score: 1, metadata: { filename: 'a.md' } };
    const { asked } = await run({
      turns: [[['find', '{}']], 'It is 5. [1]'],
      source: sourceOf(
        scriptedTool('find', { outcome: () => ({ output: '[1] It is 5.', documents: [document] }) }),
      ),
    });
    expect(asked.map(({ documents }) => documents)).toEqual([[], [document]]);
  });
});
