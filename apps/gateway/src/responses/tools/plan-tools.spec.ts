import { MegaNestError } from '#platform/contracts';
import { createResponseSchema } from '#api/responses';
import { describe, expect, it } from 'vitest';
import { planTools } from './plan-tools.js';
import type { ServerToolSource } from './server-tool.js';

const source: ServerToolSource = {
  type: 'mcp',
  check: (entry, param) => {
    if (!('server_label' in entry)) throw new MegaNestError('invalid_request', { detail: 'x', param });
  },
  async *open() {
    await Promise.resolve();
    yield* [];
    return { tools: [] };
  },
};

function plan(
  body: Record<string, unknown>,
  isMegaService = false,
  callsTools = !isMegaService,
  refusesUnserved = true,
): string[] {
  const { settings } = createResponseSchema.parse({ input: 'x', ...body });
  return planTools(settings, {
    findSource: (type) =>
      type === 'mcp'
        ? source
        : type === 'search'
          ? { ...source, type, check: () => {}, worksUncalled: true }
          : undefined,
    isMegaService,
    callsTools,
    refusesUnserved,
  });
}

const tools = [
  { type: 'function', name: 'add' },
  { type: 'web_search' },
  { type: 'local_shell' },
  { type: 'namespace', name: 'files', description: '', tools: [{ type: 'custom', name: 'patch' }] },
  { type: 'mcp', server_label: 'sums' },
];

describe('planTools', () => {
  it('names the types that the server does not know', () => {
    expect(plan({ tools })).toEqual(['tools.web_search', 'tools.local_shell']);
  });

  it.each([
    [false, true],
    [false, false],
    [true, true],
  ])(
    'refuses a request with unserved tools alone (mega service %s, calls tools %s)',
    (isMegaService, calls) => {
      const alone = { tools: [{ type: 'code_interpreter' }, { type: 'web_search' }] };
      expect(() => plan(alone, isMegaService, calls)).toThrow(
        expect.objectContaining({ code: 'unsupported_parameter', param: 'tools[0].type' }),
      );
      const named = ['tools.code_interpreter', 'tools.web_search'];
      expect(plan(alone, isMegaService, calls, false)).toEqual(expect.arrayContaining(named));
      expect(plan({ ...alone, tool_choice: 'none' }, isMegaService, calls)).toEqual(
        expect.arrayContaining(named),
      );
    },
  );

  it('refuses file_search before a mega service, which has documents of its own', () => {
    const search = {
      tools: [
        { type: 'function', name: 'add' },
        { type: 'file_search', vector_store_ids: ['vs_1'] },
      ],
    };
    for (const callsTools of [false, true])
      expect(() => plan(search, true, callsTools)).toThrow(
        'tools[1]: a mega service searches its own documents',
      );
    expect(plan({ ...search, tool_choice: 'none' }, true)).toEqual([]);
  });

  it.each([
    'none',
    'auto',
    'required',
    { type: 'function', name: 'add' },
    { type: 'custom', name: 'patch' },
    { type: 'mcp', server_label: 'sums' },
    { type: 'mcp', server_label: 'sums', name: 'whatever it has' },
    {
      type: 'allowed_tools',
      mode: 'auto',
      tools: [{ type: 'web_search' }, { type: 'function', name: 'add' }],
    },
  ])('takes the choice %j', (tool_choice) => {
    expect(() => plan({ tools, tool_choice })).not.toThrow();
  });

  it.each([
    [{ type: 'function', name: 'subtract' }],
    [{ type: 'mcp', server_label: 'other' }],
    [{ type: 'web_search' }],
    [{ type: 'allowed_tools', mode: 'auto', tools: [{ type: 'web_search' }] }],
  ])('refuses the choice %j of what is not there', (tool_choice) => {
    expect(() => plan({ tools, tool_choice })).toThrow(expect.objectContaining({ param: 'tool_choice' }));
  });

  it('demands no call where there is nothing to call', () => {
    expect(() => plan({ tools: [{ type: 'web_search' }], tool_choice: 'required' })).toThrow(
      expect.objectContaining({ param: 'tool_choice' }),
    );
  });

  it('checks entries by their source', () => {
    const wrong = [{ type: 'web_search' }, { type: 'mcp' }];
    expect(() => plan({ tools: wrong })).toThrow(expect.objectContaining({ param: 'tools[1]' }));
  });

  it('takes tools where the model of a mega service calls them, and names those of servers', () => {
    expect(plan({ tools }, true, true)).toEqual(['tools.web_search', 'tools.local_shell', 'tools.mcp']);
    expect(plan({ text: { format: { type: 'json_object' } } }, true, true)).toEqual([]);
  });

  it('has no use for tools where the model calls none, but for those that work uncalled', () => {
    expect(plan({ tools }, false, false)).toEqual(['tools', 'tools.web_search', 'tools.local_shell']);
    expect(plan({ tools: [{ type: 'mcp', server_label: 'sums' }] }, false, false)).toEqual(['tools']);
    expect(plan({ tools: [{ type: 'search' }], tool_choice: 'required' }, false, false)).toEqual([]);
    for (const tool_choice of ['required', { type: 'function', name: 'add' }])
      expect(() => plan({ tools, tool_choice }, false, false)).toThrow(
        expect.objectContaining({ code: 'unsupported_parameter', param: 'tool_choice' }),
      );
  });

  it('has no use for tools where a mega service answers, and says so', () => {
    expect(plan({ tools, max_tool_calls: 2 }, true)).toEqual(['tools', 'max_tool_calls']);
    expect(plan({ tools, tool_choice: 'none' }, true)).toEqual([]);
    expect(() => plan({ tools, tool_choice: 'required' }, true)).toThrow(
      expect.objectContaining({ code: 'unsupported_parameter', param: 'tool_choice' }),
    );
    expect(() => plan({ text: { format: { type: 'json_object' } } }, true)).toThrow(
      expect.objectContaining({ param: 'text.format' }),
    );
  });
});
