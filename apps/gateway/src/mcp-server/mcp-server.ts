import { MegaNestError } from '#platform/contracts';
import { serviceIdentity, version, type HttpCall, type ServiceIdentity } from '#platform/service-kit';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import {
  CallToolRequestSchema,
  CompleteRequestSchema,
  ErrorCode,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
  type CallToolResult,
  type ServerNotification,
  type ServerRequest,
} from '@modelcontextprotocol/sdk/types.js';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { MegaServiceCatalog } from '../mega-services/mega-service-catalog.js';
import { ProfilePrompts } from './prompts.js';
import { DocumentResources, documentTemplate } from './resources.js';
import { assertMayUse, type McpProgress, type McpTool } from '../document-tools/mcp-tool.js';
import { McpTools } from './tools/mcp-tools.js';

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

const instructions =
  'MegaNest answers from ingested documents. For a fact, call search with a question; read more with open, by the ' +
  'document and the passage of a result; look for exact words with find. ask gives a finished answer with quotes. Cite ' +
  'documents by their names.';

/** The most completions of one request, by the protocol. */
const maxCompletions = 100;

/** Makes the MCP server of a session, or of one request without a session. */
@Injectable()
export class McpServers {
  readonly #logger = new Logger('mcp');

  constructor(
    @Inject(serviceIdentity) private readonly identity: ServiceIdentity,
    @Inject(McpTools) private readonly tools: McpTools,
    @Inject(DocumentResources) private readonly resources: DocumentResources,
    @Inject(ProfilePrompts) private readonly prompts: ProfilePrompts,
    @Inject(MegaServiceCatalog) private readonly megaServices: MegaServiceCatalog,
  ) {}

  /** The server tells its client about changes of the mega services until it is closed. */
  create(): Server {
    const server = new Server(
      { name: 'meganest', title: 'MegaNest', version, description: this.identity.description },
      {
        capabilities: { tools: { listChanged: true }, resources: {}, prompts: {}, completions: {} },
        instructions,
      },
    );
    this.#serveTools(server);
    this.#serveResources(server);
    this.#servePrompts(server);
    const stop = this.megaServices.onChange(() => void server.sendToolListChanged().catch(() => undefined));
    return Object.assign(server, { onclose: stop });
  }

  #serveTools(server: Server): void {
    server.setRequestHandler(ListToolsRequestSchema, (_request, extra) => ({
      tools: this.tools.list(callOf(extra)).map(({ run: _run, scope: _scope, inputSchema, ...tool }) => ({
        ...tool,
        inputSchema: { ...inputSchema, type: 'object' as const },
        ...(tool.outputSchema && { outputSchema: { ...tool.outputSchema, type: 'object' as const } }),
      })),
    }));
    server.setRequestHandler(CallToolRequestSchema, ({ params }, extra) => {
      const tool = this.tools.find(params.name);
      if (!tool) throw new McpError(ErrorCode.InvalidParams, `The tool ${params.name} is unknown`);
      return this.#callTool(tool, params.arguments ?? {}, extra);
    });
  }

  /** A problem is the result, so that the model can read it and try again. */
  async #callTool(tool: McpTool, args: Record<string, unknown>, extra: Extra): Promise<CallToolResult> {
    const call = { ...callOf(extra), signal: extra.signal };
    try {
      assertMayUse(call, tool);
      const { text, structured, isError } = await tool.run(args, { call, progress: progressOf(extra) });
      return {
        content: [{ type: 'text', text }],
        structuredContent: structured,
        ...(isError && { isError }),
      };
    } catch (thrown) {
      const error = MegaNestError.from(thrown, 'gateway');
      if (error.status >= 500) this.#logger.error(`${tool.name}: ${error.message}`);
      return {
        content: [{ type: 'text', text: error.message }],
        isError: true,
        _meta: { error: error.toBody() },
      };
    }
  }

  #serveResources(server: Server): void {
    server.setRequestHandler(ListResourcesRequestSchema, ({ params }) =>
      asMcpError(() => this.resources.list(params?.cursor)),
    );
    server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({
      resourceTemplates: [documentTemplate],
    }));
    server.setRequestHandler(ReadResourceRequestSchema, ({ params }) =>
      asMcpError(async () => ({ contents: [await this.resources.read(params.uri)] })),
    );
    server.setRequestHandler(CompleteRequestSchema, ({ params: { argument } }) =>
      asMcpError(async () => {
        const { name, value } = argument;
        const all =
          name === 'id'
            ? await this.resources.complete(value)
            : name === 'collection'
              ? await this.resources.completeCollection(value)
              : [];
        const values = all.slice(0, maxCompletions);
        return { completion: { values, total: all.length, hasMore: all.length > values.length } };
      }),
    );
  }

  #servePrompts(server: Server): void {
    server.setRequestHandler(ListPromptsRequestSchema, () => ({ prompts: this.prompts.list() }));
    server.setRequestHandler(GetPromptRequestSchema, ({ params }, extra) => {
      const call = { ...callOf(extra), signal: extra.signal };
      return asMcpError(() => this.prompts.get(params.name, params.arguments, call));
    });
  }
}

/** The HTTP call that brought a message: see {@link withCall}. */
function callOf({ authInfo }: Extra): HttpCall {
  return authInfo?.extra?.['call'] as HttpCall;
}

/** Reports steps to a client that asked for them by a token. A report that cannot be sent changes nothing. */
function progressOf({ _meta, sendNotification }: Extra): (step: McpProgress) => void {
  const { progressToken } = _meta ?? {};
  if (progressToken === undefined) return () => undefined;
  return (step) => {
    const params = { ...step, progressToken };
    void sendNotification({ method: 'notifications/progress', params }).catch(() => undefined);
  };
}

/** The code of MCP for a resource that does not exist. */
const resourceNotFound = -32002;

/** Errors of resources and prompts are errors of the protocol. */
async function asMcpError<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (thrown) {
    const error = MegaNestError.from(thrown, 'gateway');
    const code =
      error.status === 404
        ? resourceNotFound
        : error.status < 500
          ? ErrorCode.InvalidParams
          : ErrorCode.InternalError;
    throw new McpError(code, error.message, error.toBody());
  }
}
