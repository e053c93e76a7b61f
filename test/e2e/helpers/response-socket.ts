import { once } from 'node:events';
import { WebSocket, type ClientOptions } from 'ws';
import type { ResponseEvent } from './response-events.js';

/** A message of the server: an event of a response's log, or an error with an HTTP status. */
export type SocketEvent = ResponseEvent & {
  stream_id?: string;
  status?: number;
  headers?: Record<string, string>;
  error?: { type: string; code: string; message: string; param: string | null };
};

const ends = new Set(['response.completed', 'response.incomplete', 'response.failed']);

/** A plain client of GET /v1/responses as a WebSocket, one turn at a time. */
export class ResponseSocketClient {
  readonly #received: SocketEvent[] = [];
  #wake: () => void = () => undefined;

  private constructor(readonly socket: WebSocket) {
    socket.on('message', (data: Buffer) => {
      this.#received.push(JSON.parse(data.toString('utf8')) as SocketEvent);
      this.#wake();
    });
  }

  /** Rejects with `Unexpected server response: 401` where the upgrade is refused. */
  static async open(
    gatewayUrl: string,
    options: ClientOptions = {},
    path = '/v1/responses',
  ): Promise<ResponseSocketClient> {
    const socket = new WebSocket(`${gatewayUrl.replace(/^http/, 'ws')}${path}`, options);
    const client = new ResponseSocketClient(socket);
    await once(socket, 'open');
    return client;
  }

  send(fields: object): void {
    this.socket.send(JSON.stringify({ type: 'response.create', ...fields }));
  }

  /** The next message. */
  async next(): Promise<SocketEvent> {
    for (;;) {
      const event = this.#received.shift();
      if (event) return event;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  /** Everything up to the end of a turn: the terminal event of a response, or an error that came instead of one. */
  async turn(fields?: object): Promise<SocketEvent[]> {
    if (fields) this.send(fields);
    const events: SocketEvent[] = [];
    for (;;) {
      const event = await this.next();
      events.push(event);
      if (ends.has(event.type) || event.status !== undefined) return events;
    }
  }

  /** Resolves with the close code. */
  async closed(): Promise<number> {
    if (this.socket.readyState === WebSocket.CLOSED) throw new Error('Ask before it closes');
    const [code] = (await once(this.socket, 'close')) as [number];
    return code;
  }

  close(): void {
    this.socket.close();
  }
}
