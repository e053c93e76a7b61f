import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  isInitializeRequest,
  isJSONRPCRequest,
  type JSONRPCMessage,
} from '@modelcontextprotocol/sdk/types.js';

/** The code of MCP for an internal error. */
const internalError = -32603;

interface BridgeOptions {
  /** The client, on standard input and output. */
  client: Transport;
  /** Opens a connection to the gateway. */
  connect: () => Transport;
  /** Whether an error says that the gateway does not know the session, as after its restart. */
  lostSession: (error: unknown) => boolean;
  /** Told of problems that no message reports. */
  warn: (problem: string) => void;
}

/**
 * Passes the messages of an MCP client on to the gateway and back. If the gateway has lost the session, the bridge opens
 * another one with the client's own `initialize` and sends the message again.
 */
export class Bridge {
  #server: Transport | undefined;
  #initialize: JSONRPCMessage | undefined;
  /** The id of an `initialize` that the client has its answer of. */
  #repeated: unknown;
  #reopening: Promise<Transport> | undefined;

  constructor(private readonly options: BridgeOptions) {}

  async start(): Promise<void> {
    const { client } = this.options;
    Object.assign(client, {
      onmessage: (message: JSONRPCMessage) => void this.#forward(message),
      onclose: () => void this.#server?.close(),
    });
    await client.start();
  }

  async #forward(message: JSONRPCMessage): Promise<void> {
    if (isInitializeRequest(message)) this.#initialize = message;
    try {
      const server = (this.#server ??= await this.#connect());
      try {
        await server.send(message);
      } catch (error) {
        if (!this.options.lostSession(error) || !this.#initialize) throw error;
        const again = this.#server === server ? await (this.#reopening ??= this.#reopen()) : this.#server;
        await again.send(message);
      }
    } catch (error) {
      await this.#fail(message, error);
    }
  }

  async #connect(): Promise<Transport> {
    const server = this.options.connect();
    Object.assign(server, {
      onmessage: (message: JSONRPCMessage) => {
        if (
          'id' in message &&
          this.#repeated !== undefined &&
          message.id === this.#repeated &&
          'result' in message
        )
          this.#repeated = undefined;
        else void this.options.client.send(message);
      },
      onerror: (error: Error) => this.options.warn(error.message),
    });
    await server.start();
    return server;
  }

  async #reopen(): Promise<Transport> {
    try {
      const server = await this.#connect();
      const initialize = this.#initialize!;
      this.#repeated = 'id' in initialize ? initialize.id : undefined;
      await server.send(initialize);
      await server.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
      this.#server = server;
      return server;
    } finally {
      this.#reopening = undefined;
    }
  }

  /** A request gets the problem as its answer. */
  async #fail(message: JSONRPCMessage, error: unknown): Promise<void> {
    const text = error instanceof Error ? error.message : String(error);
    if (!isJSONRPCRequest(message)) return this.options.warn(text);
    await this.options.client.send({
      jsonrpc: '2.0',
      id: message.id,
      error: { code: internalError, message: `MegaNest cannot be reached: ${text}` },
    });
  }
}
