import type { ToolCall } from '#platform/contracts';
import { newItemId, type McpCall, type ResponseTool, type ToolStep } from '#api/responses';
import type { BuiltInTool, BuiltInTools, OpenedTool } from '../../document-tools/built-in-tools.js';
import type { OpenedTools, ServerTool, ServerToolSource, ToolContext, ToolOutcome } from './server-tool.js';

/** The label of this server in the items of its calls. */
const serverLabel = 'meganest';

/** `search`, `find` and `open` as tools of a response. */
export function documentToolSources({ ofDocuments }: Pick<BuiltInTools, 'ofDocuments'>): ServerToolSource[] {
  return ofDocuments.map((tool) => new DocumentToolSource(tool));
}

class DocumentToolSource implements ServerToolSource {
  constructor(private readonly tool: BuiltInTool) {}

  get type(): string {
    return this.tool.type;
  }

  check(entry: ResponseTool, param: string): void {
    this.tool.check(entry, param);
  }

  /** Errors: insufficient_scope. */
  // oxlint-disable-next-line require-yield
  async *open(entry: ResponseTool, context: ToolContext): AsyncGenerator<ToolStep, OpenedTools, void> {
    await Promise.resolve();
    const opened = this.tool.open(entry, context.call);
    return { tools: [serverTool(this.type, opened)] };
  }
}

function serverTool(name: string, opened: OpenedTool): ServerTool {
  return { definition: opened.definition, call: (call, context) => run(name, opened, call, context) };
}

/** Runs a call, and shows it as the call of an MCP server, which is the form that clients know. */
async function* run(
  name: string,
  opened: OpenedTool,
  { input }: ToolCall,
  { call, documents }: ToolContext,
): AsyncGenerator<ToolStep, ToolOutcome, void> {
  const item: McpCall = {
    id: newItemId('mcp_call'),
    type: 'mcp_call',
    status: 'in_progress',
    server_label: serverLabel,
    name,
    arguments: '',
    output: null,
    error: null,
    approval_request_id: null,
  };
  const { id } = item;
  yield { type: 'item_added', item };
  yield { type: 'item_progress', id, phase: 'in_progress' };
  yield { type: 'item_arguments', id, arguments: input };
  const { text, problem, found } = await opened.run(input, { call, numbered: documents.length });
  call.signal.throwIfAborted();
  yield { type: 'item_progress', id, phase: problem ? 'failed' : 'completed' };
  const error: McpCall['error'] = problem
    ? { type: 'mcp_tool_execution_error', content: [{ type: 'text', text }] }
    : null;
  const status = problem ? 'failed' : 'completed';
  yield {
    type: 'item_done',
    item: { ...item, status, arguments: input, output: problem ? null : text, error },
  };
  return { output: text, documents: found };
}
