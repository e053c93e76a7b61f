import { MegaNestError } from '#contracts';
import { connect, type NatsConnection } from '@nats-io/transport-node';

export interface ConnectionOptions {
  /** One URL or a comma list of a cluster's, e.g. `nats://127.0.0.1:4222`. */
  url: string;
  /** Shown by `nats server report connections`. */
  name: string;
}

/** One connection to NATS that reconnects for ever and knows whether it is up. */
export class MessagingConnection {
  #connected = true;
  #reconnects = 0;

  private constructor(readonly nats: NatsConnection) {
    void this.#followStatus();
  }

  /** Connects, waiting for a server that is not up yet. */
  static async open({ url, name }: ConnectionOptions): Promise<MessagingConnection> {
    const nats = await connect({
      servers: url.split(',').map((server) => server.trim()),
      name,
      maxReconnectAttempts: -1,
      reconnectTimeWait: 250,
      waitOnFirstConnect: true,
      ignoreAuthErrorAbort: false,
    });
    return new MessagingConnection(nats);
  }

  get connected(): boolean {
    return this.#connected && !this.nats.isClosed() && !this.nats.isDraining();
  }

  /** How often the connection was lost and made anew. */
  get reconnects(): number {
    return this.#reconnects;
  }

  /** Round trip to the server in milliseconds; throws `service_unavailable` while disconnected. */
  async ping(): Promise<number> {
    this.assertConnected();
    return this.nats.rtt();
  }

  assertConnected(): void {
    if (!this.connected)
      throw new MegaNestError('service_unavailable', { service: 'nats', detail: 'not connected' });
  }

  async close(): Promise<void> {
    if (this.nats.isClosed()) return;
    // Draining waits for the server, so a lost server must not hold up the shutdown.
    if (this.#connected) await this.nats.drain();
    else await this.nats.close();
  }

  async #followStatus(): Promise<void> {
    for await (const status of this.nats.status()) {
      if (status.type === 'disconnect' || status.type === 'staleConnection') this.#connected = false;
      if (status.type !== 'reconnect') continue;
      this.#connected = true;
      this.#reconnects += 1;
    }
  }
}
