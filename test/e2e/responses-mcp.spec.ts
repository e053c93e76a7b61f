import { freePort } from '#platform/testing';
import type OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { approvalOf, callsOf, mcpTool, namesOf, typesOf } from './helpers/mcp-items.js';
import {
  startEverythingServer,
  startRecordingServer,
  type RecordingMcpServer,
  type TestMcpServer,
} from './helpers/mcp-servers.js';
import {
  askerOf,
  assertValid,
  assertValidLog,
  collect,
  failureOf,
  newClient,
  problemsOf,
  responseOf,
  type ResponseEvent,
} from './helpers/response-events.js';
import { startScriptedStack, type ScriptedStack } from './helpers/scripted-stack.js';
import { recordClient } from '../support/client-matrix.js';

recordClient({ client: 'MCP server-everything', name: '@modelcontextprotocol/server-everything' });

type Input = OpenAI.Responses.ResponseInput;
type Mcp = OpenAI.Responses.Tool.Mcp;

let stack: ScriptedStack;
let client: OpenAI;
let everything: TestMcpServer;
let recording: RecordingMcpServer;
const { create, stream } = askerOf(() => client);

beforeAll(async () => {
  [stack, everything, recording] = await Promise.all([
    startScriptedStack({ ALLOW_PRIVATE_LINKS: 'true', RESPONSES_MCP_TIMEOUT_MS: '3000' }),
    startEverythingServer(),
    startRecordingServer(),
  ]);
  client = newClient(stack.gateway.url);
});
afterAll(async () => {
  await stack?.stop();
  await Promise.all([everything?.stop(), recording?.stop()]);
});

const allowed = ['echo', 'get-sum', 'get-tiny-image', 'trigger-long-running-operation'];
const everythingTool = (more: Partial<Mcp> = {}) =>
  mcpTool('everything', everything.url, { allowed_tools: allowed, ...more });
const recordingTool = (more: Partial<Mcp> = {}) => mcpTool('recording', recording.url, more);
/** Every body and event by OpenAI's document; Open Responses has no MCP. */
const assertValidEvents = (events: readonly ResponseEvent[]) => assertValidLog(events);

describe('MCP tools run by the server', () => {
  it('are listed, called, and answered from, with their events', async () => {
    const events = await collect(
      await stream({ input: 'use get-sum {"a":2,"b":3}', tools: [everythingTool()] }),
    );
    assertValidEvents(events);
    const response = responseOf(events);
    expect(response.status).toBe('completed');
    expect(typesOf(response)).toEqual(['mcp_list_tools', 'mcp_call', 'message']);
    expect(callsOf(response)[0]).toMatchObject({
      status: 'completed',
      server_label: 'everything',
      name: 'get-sum',
      arguments: '{"a":2,"b":3}',
      error: null,
      approval_request_id: null,
    });
    expect(response.output_text).toMatch(/\b5\b/);
    const types = events.map(({ type }) => type).filter((type) => type.includes('mcp'));
    expect(types).toEqual([
      'response.mcp_list_tools.in_progress',
      'response.mcp_list_tools.completed',
      'response.mcp_call.in_progress',
      'response.mcp_call_arguments.delta',
      'response.mcp_call_arguments.done',
      'response.mcp_call.completed',
    ]);
    expect(namesOf(response).toSorted()).toEqual(everythingTool().allowed_tools);
  });

  it('are not listed again where the conversation has the list', async () => {
    const first = await create({ input: 'use echo {"message":"one"}', tools: [everythingTool()] });
    const second = await create({
      input: 'use echo {"message":"two"}',
      tools: [everythingTool()],
      previous_response_id: first.id,
    });
    expect(typesOf(second)).toEqual(['mcp_call', 'message']);
    expect(second.output_text).toContain('two');
    const recalled = await create({ input: 'recall', previous_response_id: second.id });
    expect(recalled.output_text).toContain('tool: Echo: one');
  });

  it('run several at once, of servers old and new, whose tools have the same names', async () => {
    const old = await startEverythingServer('sse');
    try {
      const response = await create({
        input: 'use echo {"message":"new"}\nuse older__echo {"message":"old"}\nuse get-tiny-image {}',
        tools: [
          everythingTool(),
          everythingTool({ server_label: 'older', server_url: old.url, allowed_tools: ['echo'] }),
        ],
      });
      assertValid(response);
      expect(typesOf(response)).toEqual([
        'mcp_list_tools',
        'mcp_list_tools',
        'mcp_call',
        'mcp_call',
        'mcp_call',
        'message',
      ]);
      expect(callsOf(response).map(({ server_label, name }) => `${server_label} ${name}`)).toEqual([
        'everything echo',
        'older echo',
        'everything get-tiny-image',
      ]);
      expect(callsOf(response)[2]?.output).toContain('[image: image/png]');
    } finally {
      await old.stop();
    }
  });

  it('keep keys to themselves: sent to the server, and neither shown nor stored', async () => {
    recording.requests.length = 0;
    const tool = recordingTool({ headers: { 'x-key': 'secret-header' }, authorization: 'secret-token' });
    for (const background of [false, true]) {
      const begun = await create({ input: 'use look {}', tools: [tool], background });
      const events = await collect(await client.responses.retrieve(begun.id, { stream: true }));
      const stored = await client.responses.retrieve(begun.id);
      expect(stored.output_text).toBe('nothing to see');
      expect(JSON.stringify([begun, events, stored])).not.toContain('secret-');
      expect(stored.tools[0]).toMatchObject({
        server_url: `${new URL(recording.url).origin}/<redacted>`,
        headers: { 'x-key': '<redacted>' },
        authorization: '<redacted>',
      });
    }
    for (const { key, authorization } of recording.requests) {
      expect(key).toBe('secret-header');
      expect(authorization).toBe('Bearer secret-token');
    }
  });

  it.each([
    [['look', 'none'], ['look']],
    [{ read_only: true }, ['look']],
    [{ tool_names: ['add', 'fail'] }, ['add', 'fail']],
    [undefined, ['look', 'add', 'fail', 'hang']],
  ])('are limited to what %j allows', async (allowed_tools, names) => {
    const response = await create({ input: 'x', tools: [recordingTool({ allowed_tools })] });
    expect(namesOf(response)).toEqual(names);
  });

  it('stop after max_tool_calls', async () => {
    // The package's types do not have it yet.
    const limit = { max_tool_calls: 1 };
    const response = await create({
      input: 'use look {}\nuse add {"a":1,"b":1}',
      tools: [recordingTool()],
      ...limit,
    });
    expect(callsOf(response).map(({ name }) => name)).toEqual(['look']);
    expect(response.status).toBe('completed');
  });
});

describe('approval of MCP calls', () => {
  const question = 'use add {"a":20,"b":3}';

  it('is asked for by default, and the call is made once it is given', async () => {
    const tools = [recordingTool({ require_approval: undefined })];
    const events = await collect(await stream({ input: question, tools }));
    assertValidEvents(events);
    const asked = responseOf(events);
    expect(typesOf(asked)).toEqual(['mcp_list_tools', 'mcp_approval_request']);
    const request = approvalOf(asked);
    expect(request).toMatchObject({ name: 'add', arguments: '{"a":20,"b":3}', server_label: 'recording' });
    const answer = { type: 'mcp_approval_response', approval_request_id: request.id, approve: true } as const;
    const given = await create({ input: [answer], tools, previous_response_id: asked.id });
    assertValid(given);
    expect(typesOf(given)).toEqual(['mcp_call', 'message']);
    expect(callsOf(given)[0]).toMatchObject({ approval_request_id: request.id, output: 'the sum is 23' });
    expect(given.output_text).toBe('the sum is 23');
    const page = await client.responses.inputItems.list(given.id);
    for (const item of page.data) expect(problemsOf('ItemResource', item)).toEqual([]);
    const later = await create({ input: 'recall', tools, previous_response_id: given.id });
    expect(typesOf(later)).toEqual(['message']);
  });

  it('works without storage, and only for the tools that it is asked for', async () => {
    const tools = [recordingTool({ require_approval: { never: { tool_names: ['look'] } } })];
    const free = await create({ input: 'use look {}', tools });
    expect(typesOf(free)).toEqual(['mcp_list_tools', 'mcp_call', 'message']);
    const asked = await create({ input: question, tools, store: false });
    const denied = await create({
      store: false,
      tools,
      input: [
        { role: 'user', content: question },
        ...(asked.output as Input),
        {
          type: 'mcp_approval_response',
          approval_request_id: approvalOf(asked).id,
          approve: false,
          reason: 'too much',
        },
      ],
    });
    expect(typesOf(denied)).toEqual(['message']);
    expect(denied.output_text).toBe('The user did not allow this call: too much');
  });
});

describe('MCP servers that fail', () => {
  it('are reported in items, and the response goes on', async () => {
    const port = await freePort();
    const away = recordingTool({ server_label: 'away', server_url: `http://127.0.0.1:${port}/mcp` });
    const events = await collect(await stream({ input: 'hello', tools: [away] }));
    assertValidEvents(events);
    const unlisted = responseOf(events);
    expect(unlisted).toMatchObject({ status: 'completed', output_text: 'hello' });
    expect(unlisted.output[0]).toMatchObject({
      type: 'mcp_list_tools',
      tools: [],
      error: expect.stringContaining('ECONNREFUSED') as string,
    });
    expect(events.map(({ type }) => type)).toContain('response.mcp_list_tools.failed');

    const broken = await collect(await stream({ input: 'use fail {}', tools: [recordingTool()] }));
    assertValidEvents(broken);
    expect(callsOf(responseOf(broken))[0]).toMatchObject({
      status: 'failed',
      output: null,
      error: { type: 'mcp_tool_execution_error' },
    });
    expect(responseOf(broken).output_text).toContain('it broke');

    const wrong = await create({ input: 'use add {"a":"x"}', tools: [recordingTool()] });
    assertValid(wrong);
    expect(callsOf(wrong)[0]?.status).toBe('failed');
  });

  it('are given up after a while', async () => {
    const response = await create({ input: 'use hang {}', tools: [recordingTool()] });
    expect(callsOf(response)[0]).toMatchObject({ status: 'failed', error: { type: 'mcp_protocol_error' } });
    expect(response.output_text).toContain('timed out');
  });

  it('are left when the response is cancelled', async () => {
    const before = recording.abandoned;
    const running = await stream({ input: 'use hang {}', tools: [recordingTool()] });
    const events: ResponseEvent[] = [];
    for await (const event of running) {
      events.push(event);
      if (event.type === 'response.mcp_call_arguments.done') {
        const created = events[0];
        if (created?.type === 'response.created') await client.responses.cancel(created.response.id);
      }
    }
    expect(responseOf(events).status).toBe('cancelled');
    await expect.poll(() => recording.abandoned).toBeGreaterThan(before);
  });

  it.each([
    ['no label', { server_label: undefined }, 'tools[0].server_label'],
    ['no URL', { server_url: undefined }, 'tools[0].server_url'],
    ['another protocol', { server_url: 'file:///etc/passwd' }, 'tools[0].server_url'],
    ['a connector', { server_url: undefined, connector_id: 'connector_gmail' }, 'tools[0].connector_id'],
    ['an unknown approval', { require_approval: 'sometimes' }, 'tools[0].require_approval'],
  ])('are refused with %s', async (_what, fields, param) => {
    const tools = [{ ...recordingTool(), ...fields }] as Mcp[];
    expect(await failureOf(create({ input: 'x', tools }))).toMatchObject({ status: 400, param });
  });

  it('cannot have the same label, nor lie inside the network unless that is allowed', async () => {
    const twice = create({ input: 'x', tools: [recordingTool(), recordingTool()] });
    expect(await failureOf(twice)).toMatchObject({ status: 400, param: 'tools[1].server_label' });
    const strict = newClient((await stack.startGateway({ ALLOW_PRIVATE_LINKS: 'false' })).url);
    const ask = (server_url: string) =>
      strict.responses.create({ model: 'scripted', input: 'x', tools: [recordingTool({ server_url })] });
    expect(await failureOf(ask(recording.url))).toMatchObject({
      code: 'forbidden_url',
      param: 'tools[0].server_url',
    });
    // A name is looked up when it is connected to.
    const named = await ask(recording.url.replace('127.0.0.1', 'localhost'));
    expect(named.output[0]).toMatchObject({
      error: expect.stringContaining('not a public address') as string,
    });
  });
});
