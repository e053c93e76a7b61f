import type { ToolStep } from '#api/responses';
import { describe, expect, it } from 'vitest';
import type { GatewayEnvironment } from '../../../config/gateway.environment.js';
import type { OpenedTools, ToolContext } from '../server-tool.js';
import { separateSecrets } from './mcp-entry.js';
import { McpToolSource } from './mcp-source.js';

const environment = { ALLOW_PRIVATE_LINKS: true, RESPONSES_MCP_TIMEOUT_MS: 1000 } as GatewayEnvironment;
const listed = (name: string) => ({ name, description: null, input_schema: {}, annotations: null });
const list = {
  id: 'mcpl_1',
  type: 'mcp_list_tools',
  server_label: 'a',
  tools: [listed('search'), listed('delete_everything')],
  error: null,
};

async function open(entry: object, items: object[]): Promise<{ opened: OpenedTools; steps: ToolStep[] }> {
  const context = {
    items,
    secrets: new Map([['a', { url: 'http://127.0.0.1:9', authorization: undefined, headers: {} }]]),
    atEnd: () => {},
    call: { signal: new AbortController().signal },
  } as unknown as ToolContext;
  const source = new McpToolSource(environment);
  const work = source.open(
    { type: 'mcp', server_label: 'a', server_url: 'http://127.0.0.1:9', ...entry },
    context,
  );
  const steps: ToolStep[] = [];
  for (;;) {
    const { done, value } = await work.next();
    if (done) return { opened: value, steps };
    steps.push(value);
  }
}

describe('McpToolSource', () => {
  it('offers of a list that the conversation holds already what this request allows', async () => {
    const all = await open({}, [list]);
    expect(all.opened.tools.map(({ definition }) => definition.name)).toEqual([
      'search',
      'delete_everything',
    ]);
    const { opened } = await open({ allowed_tools: ['search'], require_approval: 'never' }, [list]);
    expect(opened.tools.map(({ definition }) => definition.name)).toEqual(['search']);
  });

  it('makes no approved call of a tool that this request does not allow', async () => {
    const approval = [
      {
        id: 'r1',
        type: 'mcp_approval_request',
        server_label: 'a',
        name: 'delete_everything',
        arguments: '{}',
      },
      { id: 'x', type: 'mcp_approval_response', approval_request_id: 'r1', approve: true },
    ];
    const { opened, steps } = await open({ allowed_tools: ['search'] }, [list, ...approval]);
    expect(steps).toEqual([]);
    expect(opened.messages?.at(-1)).toMatchObject({
      role: 'tool',
      content: expect.stringMatching(/allowed/),
    });
  });
});

describe('separateSecrets', () => {
  it('takes a bounded number of servers', () => {
    const tools = Array.from({ length: 17 }, (_, index) => ({ type: 'mcp', server_label: `s${index}` }));
    expect(() => separateSecrets(tools as never)).toThrow(/at most 16/);
  });
});
