import { fetchForUsers, version } from '#service-kit';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { RequestOptions } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { jsonSchemaValidator, JsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/types.js';
import type { CallToolResult, Tool } from '@modelcontextprotocol/sdk/types.js';

export interface McpServerAddress {
  url: string;
  authorization: string | undefined;
  headers: Record<string, string>;
}

export interface McpConnectionOptions {
  allowPrivate: boolean;
  /** Longest wait for one answer in milliseconds. */
  timeoutMs: number;
}

/** Most tools of a server. */
const mostTools = 512;
/** Most pages of the list of a server's tools, and characters of the whole list. */
const mostPages = 64;
const longestList = 2 ** 20;
/**
 * What a server returns is not checked against the schemas that it announces. They are as foreign as what it returns:
 * their expressions would run in the event loop of the gateway.
 */
const unchecked: jsonSchemaValidator = {
  getValidator<Value>(): JsonSchemaValidator<Value> {
    return (input) => ({ valid: true, data: input as Value, errorMessage: undefined });
  },
};
/** Longest wait for a session to be ended in order. */
const farewellMs = 500;

/** A connection to one MCP server, opened when it is first needed: Streamable HTTP, or SSE where the server is older. */
export class McpConnection {
  readonly #fetch;
  #client: Promise<Client> | undefined;
  #transport: Transport | undefined;
  /** Ends the request under way when the server's answer is cut off. */
  #cut = new AbortController();

  constructor(
    private readonly address: McpServerAddress,
    private readonly options: McpConnectionOptions,
  ) {
    this.#fetch = fetchForUsers(options.allowPrivate, { onCut: (error) => this.#cut.abort(error) });
  }

  /** Errors: BodyTooLargeError; whatever the way to the server or its protocol throws. */
  async listTools(signal: AbortSignal): Promise<Tool[]> {
    const tools: Tool[] = [];
    let cursor: string | undefined;
    let [pages, characters] = [0, 0];
    do {
      if (++pages > mostPages) throw new Error(`The list of tools has more than ${mostPages} pages.`);
      const page = await this.#request(signal, (client, limits) => client.listTools({ cursor }, limits));
      const kept = page.tools.slice(0, mostTools - tools.length);
      // Counted page by page: all pages together may have 64 times as much as one answer.
      characters += JSON.stringify(kept).length;
      if (characters > longestList)
        throw new Error(`The list of tools is longer than ${longestList} characters.`);
      tools.push(...kept);
      cursor = page.nextCursor;
    } while (cursor !== undefined && tools.length < mostTools);
    return tools;
  }

  /** Errors: as {@link listTools}. */
  async callTool(name: string, input: Record<string, unknown>, signal: AbortSignal): Promise<CallToolResult> {
    const call = { name, arguments: input };
    const result = await this.#request(signal, (client, limits) => client.callTool(call, undefined, limits));
    return result as CallToolResult;
  }

  /** Ends the session on the server, too. Never throws. */
  async close(): Promise<void> {
    const transport = this.#transport;
    if (transport instanceof StreamableHTTPClientTransport && transport.sessionId !== undefined) {
      const farewell = transport.terminateSession().catch(() => undefined);
      await Promise.race([farewell, new Promise((resolve) => setTimeout(resolve, farewellMs).unref())]);
    }
    const client = await this.#client?.catch(() => undefined);
    await client?.close().catch(() => undefined);
    await this.#fetch.close().catch(() => undefined);
  }

  /**
   * Makes one request of this connection after another. The protocol's client waits for its time limit when an event is
   * cut off, so the request is ended here, with the reason.
   */
  async #request<Result>(
    signal: AbortSignal,
    send: (client: Client, limits: RequestOptions) => Promise<Result>,
  ): Promise<Result> {
    const { signal: cut } = (this.#cut = new AbortController());
    const ended = AbortSignal.any([signal, cut]);
    try {
      return await send(await this.#open(ended), this.#limits(ended));
    } catch (error) {
      throw cut.aborted && !signal.aborted ? cut.reason : error;
    }
  }

  #open(signal: AbortSignal): Promise<Client> {
    this.#client ??= this.#connect(signal).catch((error: unknown) => {
      this.#client = undefined;
      throw error;
    });
    return this.#client;
  }

  async #connect(signal: AbortSignal): Promise<Client> {
    const url = new URL(this.address.url);
    const settings = { fetch: this.#fetch.fetch, requestInit: { headers: this.#headers() } };
    try {
      return await this.#connectBy(new StreamableHTTPClientTransport(url, settings), signal);
    } catch (error) {
      if (!isOlderServer(error)) throw error;
      return this.#connectBy(new SSEClientTransport(url, settings), signal);
    }
  }

  async #connectBy(transport: Transport, signal: AbortSignal): Promise<Client> {
    const client = new Client({ name: 'meganest', version }, { jsonSchemaValidator: unchecked });
    try {
      await client.connect(transport, this.#limits(signal));
    } catch (error) {
      await client.close().catch(() => undefined);
      throw error;
    }
    this.#transport = transport;
    return client;
  }

  #headers(): Record<string, string> {
    const { authorization, headers } = this.address;
    return { ...headers, ...(authorization !== undefined && { authorization: `Bearer ${authorization}` }) };
  }

  #limits(signal: AbortSignal): RequestOptions {
    return { signal, timeout: this.options.timeoutMs, maxTotalTimeout: this.options.timeoutMs };
  }
}

/** What the protocol says of servers from before Streamable HTTP: they refuse the POST. */
function isOlderServer(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return code === 400 || code === 404 || code === 405;
}
