import { invalidField, MegaNestError, type ChatMessage, type Tool } from '#platform/contracts';
import {
  newId,
  newItemId,
  type McpListTools,
  type ResponseTool,
  type StoredItem,
  type ToolStep,
} from '#api/responses';
import { refusalOfUrl } from '#platform/service-kit';
import { Inject, Injectable } from '@nestjs/common';
import { gatewayEnvironment, type GatewayEnvironment } from '../../../config/gateway.environment.js';
import {
  toolMessage,
  type OpenedTools,
  type ServerTool,
  type ServerToolSource,
  type ToolContext,
} from '../server-tool.js';
import { runMcpCall, toMcpFailure, type McpServer } from './mcp-calls.js';
import { McpConnection } from './mcp-connection.js';
import { isAllowed, needsApproval, parseMcpEntry, type McpEntry } from './mcp-entry.js';

type ListedTool = McpListTools['tools'][number];

/** Tools of the Model Context Protocol servers of a request. */
@Injectable()
export class McpToolSource implements ServerToolSource {
  readonly type = 'mcp';

  constructor(@Inject(gatewayEnvironment) private readonly environment: GatewayEnvironment) {}

  /** Errors: the errors of {@link parseMcpEntry}; forbidden_url. The URL may be redacted except for its origin. */
  check(tool: ResponseTool, param: string): void {
    const { server_url: url } = parseMcpEntry(tool, param);
    if (url === undefined) throw invalidField(`${param}.server_url`, 'is required');
    const refusal = refusalOfUrl(url, this.environment.ALLOW_PRIVATE_LINKS);
    if (refusal)
      throw new MegaNestError('forbidden_url', { url, detail: refusal, param: `${param}.server_url` });
  }

  async *open(tool: ResponseTool, context: ToolContext): AsyncGenerator<ToolStep, OpenedTools, void> {
    const entry = parseMcpEntry(tool, 'tools');
    const label = entry.server_label;
    const { signal } = context.call;
    const connection = this.#connection(entry, context);
    const server: McpServer = { label, connection, signal };
    context.atEnd(() => connection.close());
    const all = knownTools(context, label) ?? (yield* listTools(server, entry));
    const listed = all.filter((tool) => isAllowed(entry, filtered(tool)));
    const allowed = new Set(listed.map(({ name }) => name));
    const messages = yield* answerApprovals(server, context, allowed);
    return { tools: listed.map((one) => serverTool(one, entry, server)), messages };
  }

  #connection(
    { server_label: label, server_url: shown = '' }: McpEntry,
    { secrets }: ToolContext,
  ): McpConnection {
    const { url, authorization, headers = {} } = secrets.get(label) ?? {};
    const { ALLOW_PRIVATE_LINKS: allowPrivate, RESPONSES_MCP_TIMEOUT_MS: timeoutMs } = this.environment;
    return new McpConnection({ url: url ?? shown, authorization, headers }, { allowPrivate, timeoutMs });
  }
}

/** The list of tools that the conversation contains already, so that the server is not asked again. */
function knownTools({ items }: ToolContext, label: string): ListedTool[] | undefined {
  const list = items.findLast(
    (item) => item.type === 'mcp_list_tools' && item['server_label'] === label && !item['error'],
  );
  return list && (list['tools'] as ListedTool[]);
}

async function* listTools(
  { label, connection, signal }: McpServer,
  entry: McpEntry,
): AsyncGenerator<ToolStep, ListedTool[], void> {
  const id = newItemId('mcp_list_tools');
  const item: McpListTools = { id, type: 'mcp_list_tools', server_label: label, tools: [] };
  yield { type: 'item_added', item };
  yield { type: 'item_progress', id, phase: 'in_progress' };
  try {
    const all = await connection.listTools(signal);
    const tools = all.map(listedTool).filter((tool) => isAllowed(entry, filtered(tool)));
    yield { type: 'item_progress', id, phase: 'completed' };
    yield { type: 'item_done', item: { ...item, tools, error: null } };
    return tools;
  } catch (thrown) {
    if (signal.aborted) throw thrown;
    const { message } = toMcpFailure(thrown);
    yield { type: 'item_progress', id, phase: 'failed' };
    yield { type: 'item_done', item: { ...item, error: `The tools could not be listed: ${message}` } };
    return [];
  }
}

function listedTool({
  name,
  description,
  inputSchema,
  annotations,
}: {
  name: string;
  description?: string;
  inputSchema: object;
  annotations?: object;
}): ListedTool {
  return {
    name,
    description: description ?? null,
    input_schema: inputSchema,
    annotations: annotations ?? null,
  };
}

function filtered({ name, annotations }: ListedTool) {
  const { readOnlyHint } = (annotations ?? {}) as { readOnlyHint?: unknown };
  return { name, readOnly: readOnlyHint === true };
}

/** Makes the calls that the caller has approved, and reports the denied calls to the model. */
async function* answerApprovals(
  server: McpServer,
  { items, takesImages }: ToolContext,
  allowed: ReadonlySet<string>,
): AsyncGenerator<ToolStep, ChatMessage[], void> {
  const messages: ChatMessage[] = [];
  for (const { requestId, name, input, approved, reason } of answeredApprovals(items, server.label)) {
    const id = newId('call');
    const denial = allowed.has(name)
      ? `The user did not allow this call${reason === undefined ? '.' : `: ${reason}`}`
      : 'This tool is not among the allowed tools.';
    const { output, images } =
      approved && allowed.has(name)
        ? yield* runMcpCall(server, { name, input, approvalRequestId: requestId })
        : { output: denial, images: [] };
    messages.push(
      { role: 'assistant', content: '', toolCalls: [{ id, name, input }] },
      toolMessage({ output, images }, id, takesImages),
    );
  }
  return messages;
}

function serverTool(listed: ListedTool, entry: McpEntry, server: McpServer): ServerTool {
  const { name } = listed;
  return {
    definition: definitionOf(listed, entry),
    async *call({ input }) {
      if (!needsApproval(entry, filtered(listed))) return yield* runMcpCall(server, { name, input });
      const id = newItemId('mcp_approval_request');
      const { label: server_label } = server;
      const item = { id, type: 'mcp_approval_request' as const, server_label, name, arguments: input };
      yield { type: 'item_added', item };
      yield { type: 'item_done', item };
      return { output: undefined };
    },
  };
}

function definitionOf({ name, description, input_schema: schema }: ListedTool, entry: McpEntry): Tool {
  const parts = [entry.server_description, description].filter((text) => text);
  return {
    type: 'function',
    name,
    ...(parts.length > 0 && { description: parts.join('\n') }),
    parameters: schema as Record<string, unknown>,
  };
}

/** The calls of one server with an answer to their approval request that were not made yet. */
function answeredApprovals(items: readonly StoredItem[], label: string) {
  const made = new Set(
    items.filter(({ type }) => type === 'mcp_call').map((item) => item['approval_request_id']),
  );
  const requests = new Map(
    items
      .filter((item) => item.type === 'mcp_approval_request' && item['server_label'] === label)
      .map((item) => [item.id, item]),
  );
  return items.flatMap((item) => {
    if (item.type !== 'mcp_approval_response') return [];
    const request = requests.get(String(item['approval_request_id']));
    if (!request || made.has(request.id)) return [];
    const reason = item['reason'];
    return {
      requestId: request.id,
      name: String(request['name']),
      input: String(request['arguments']),
      approved: item['approve'] === true,
      reason: typeof reason === 'string' ? reason : undefined,
    };
  });
}
