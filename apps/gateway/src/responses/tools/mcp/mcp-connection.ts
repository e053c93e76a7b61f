import { fetchForUsers, version } from '#platform/service-kit';
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
  /** Timeout for one answer in milliseconds. */
  timeoutMs: number;
}

/** Limit for the tools of a server. */
const maxTools = 512;
/** Limits for the pages of a server's list of tools, and for the characters of the whole list. */
const maxPages = 64;
const maxListLength = 2 ** 20;
/**
 * Results of a server are not checked against the schemas that it announces. The schemas are as untrusted as the
 * results, and their regular expressions would run in the event loop of the gateway.
 */
const unchecked: jsonSchemaValidator = {
  getValidator<Value>(): JsonSchemaValidator<Value> {
    return (input) => ({ valid: true, data: input as Value, errorMessage: undefined });
  },
};
/** Timeout for an orderly end of the session. */
const farewellMs = 500;

/** A connection to one MCP server, opened on first use: Streamable HTTP, or SSE for older servers. */
export class McpConnection {
  readonly #fetch;
  #client: Promise<Client> | undefined;
  #transport: Transport | undefined;
  /** Aborts the current request when the server's answer exceeds its limit. */
  #cut = new AbortController();

  constructor(
    private readonly address: McpServerAddress,
    private readonly options: McpConnectionOptions,
  ) {
    this.#fetch = fetchForUsers(options.allowPrivate, { onCut: (error) => this.#cut.abort(error) });
  }

  /** Errors: BodyTooLargeError; errors of the connection and of the protocol. */
  async listTools(signal: AbortSignal): Promise<Tool[]> {
    const tools: Tool[] = [];
    let cursor: string | undefined;
    let [pages, characters] = [0, 0];
    do {
      if (++pages > maxPages) throw new Error(`The list of tools has more than ${maxPages} pages.`);
      const page = await this.#request(signal, (client, limits) => client.listTools({ cursor }, limits));
      const kept = page.tools.slice(0, maxTools - tools.length);
      // Counted page by page: all pages together may be 64 times as long as one answer.
      characters += JSON.stringify(kept).length;
      if (characters > maxListLength)
        throw new Error(`The list of tools is longer than ${maxListLength} characters.`);
      tools.push(...kept);
      cursor = page.nextCursor;
    } while (cursor !== undefined && tools.length < maxTools);
    return tools;
  }

  /** Errors: as {@link listTools}. */
  async callTool(name: string, input: Record<string, unknown>, signal: AbortSignal): Promise<CallToolResult> {
    const call = { name, arguments: input };
    const result = await this.#request(signal, (client, limits) => client.callTool(call, undefined, limits));
    return result as CallToolResult;
  }

  /** Closes the connection and its session on the server. Never throws. */
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
   * Makes the requests of this connection one after another. The protocol's client would wait for its timeout after an
   * event that is cut off. So the request is aborted here, with the reason.
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

/** Servers older than Streamable HTTP refuse the POST, as the protocol says. */
function isOlderServer(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return code === 400 || code === 404 || code === 405;
}
