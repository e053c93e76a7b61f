import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { MegaNestError } from '#contracts';
import { Logger } from '@nestjs/common';
import {
  connect,
  credsAuthenticator,
  errors,
  nkeyAuthenticator,
  type NatsConnection,
  type NodeConnectionOptions,
} from '@nats-io/transport-node';

/** Where NATS is, who this program is there, and how the connection is encrypted. */
export interface ServerAccess {
  /** One URL or a comma list of a cluster's, e.g. `nats://127.0.0.1:4222`; credentials in it count for nothing. */
  url: string;
  user?: string;
  password?: string;
  token?: string;
  /** The seed of a user's key pair. */
  nkey?: string;
  /** Read at each connection, so that it may be replaced. */
  credentialsFile?: string;
  /** Encrypted, or not connected at all. */
  tls?: { caFile?: string; certFile?: string; keyFile?: string };
}

export interface ConnectionOptions extends ServerAccess {
  /** Shown by `nats server report connections`; what is answered to this program comes in below `_INBOX.<name>`. */
  name: string;
  /** Hears why the first connection takes time. Default: a warning in the log. */
  onWaiting?: (message: string) => void;
  /** A server that does not answer two pings of this interval is gone. Default 5,000. */
  pingIntervalMs?: number;
}

const retryMs = 250;
const reportEvery = 10_000 / retryMs;
const maxUnansweredPings = 2;

function connectOnce(
  access: ServerAccess,
  { name, pingIntervalMs = 5_000 }: Pick<ConnectionOptions, 'name' | 'pingIntervalMs'>,
): Promise<NatsConnection> {
  return connect({
    ...accessOptions(access),
    // A machine that loses its power or its cable does not close its connections.
    pingInterval: pingIntervalMs,
    maxPingOut: maxUnansweredPings,
    name,
    inboxPrefix: inboxPrefix(name),
    maxReconnectAttempts: -1,
    reconnectTimeWait: retryMs,
    // Credentials may be replaced while this runs; the first connection tells a wrong one at once.
    ignoreAuthErrorAbort: true,
  });
}

/** A token of a subject; the client library's own are counted up. */
export function unguessableToken(): string {
  return randomUUID().replaceAll('-', '');
}

function sayWaiting(message: string): void {
  new Logger('nats').warn(message);
}

/** Waiting does not help: who connects, or whom to, has to change. */
function isFinal(error: unknown): boolean {
  const causes = causesOf(error);
  return causes.some(
    (cause) =>
      cause instanceof errors.AuthorizationError ||
      cause instanceof errors.UserAuthenticationExpiredError ||
      /'tls'|certificate|SSL routines|ERR_TLS/i.test(
        `${cause.message} ${(cause as NodeJS.ErrnoException).code}`,
      ),
  );
}

function causesOf(error: unknown): Error[] {
  return error instanceof Error ? [error, ...causesOf(error.cause)] : [];
}

function describe(error: unknown): string {
  const messages = causesOf(error).map(({ message }) => message.toLowerCase());
  return [...new Set(messages)].join(': ') || String(error);
}

/** Inboxes of each program lie below its name, so that a server can keep one program from reading the answers to another. */
function inboxPrefix(name: string): string {
  return `_INBOX.${name.replaceAll(/[^\w-]/g, '_')}`;
}

/** The client's own form of an access. */
export function accessOptions(access: ServerAccess): NodeConnectionOptions {
  const { url, user, password: pass, token, nkey, credentialsFile, tls } = access;
  return {
    servers: url.split(',').map((server) => server.trim()),
    ...(user !== undefined && { user, pass }),
    ...(token !== undefined && { token }),
    ...(nkey !== undefined && { authenticator: nkeyAuthenticator(new TextEncoder().encode(nkey)) }),
    ...(credentialsFile !== undefined && {
      authenticator: credsAuthenticator(() => readFileSync(credentialsFile)),
    }),
    ...(tls && { tls }),
  };
}

/** One connection to NATS that reconnects for ever and knows whether it is up. */
export class MessagingConnection {
  #connected = true;
  #reconnects = 0;
  /** Hears the subjects that the server did not let this program publish to. */
  onRefused: (subject: string) => void = () => undefined;
  /** What waits for the next connection. */
  readonly #waiting = new Set<() => void>();

  private constructor(
    readonly nats: NatsConnection,
    private readonly name: string,
  ) {
    void this.#followStatus();
  }

  /**
   * Connects, waiting for a server that is not up yet; `onWaiting` hears why, at first and every ten seconds. Errors: the server refuses
   * the credentials, or its certificate is not trusted, or it has no TLS where the access asks for it.
   */
  static async open(options: ConnectionOptions): Promise<MessagingConnection> {
    const { name, pingIntervalMs, onWaiting = sayWaiting, ...access } = options;
    for (let attempt = 0; ; attempt += 1) {
      try {
        return new MessagingConnection(await connectOnce(access, { name, pingIntervalMs }), name);
      } catch (error) {
        if (isFinal(error)) throw new Error(`NATS at ${access.url}: ${describe(error)}`, { cause: error });
        if (attempt % reportEvery === 0) onWaiting(`waiting for NATS at ${access.url}: ${describe(error)}`);
        await delay(retryMs);
      }
    }
  }

  get connected(): boolean {
    return this.#connected && !this.nats.isClosed() && !this.nats.isDraining();
  }

  /** A subject of this connection's own whose last token cannot be guessed. */
  newInbox(): string {
    return `${inboxPrefix(this.name)}.${unguessableToken()}`;
  }

  /** How often the connection was lost and made again. */
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
      throw new MegaNestError('service_unavailable', {
        service: 'nats',
        detail: 'not connected',
        retryAfter: 1,
      });
  }

  /**
   * Resolves when there is a connection, at once where there is one. Errors: service_unavailable when none is made until `deadline`
   * (epoch milliseconds), cancelled.
   */
  async whenConnected(deadline: number, signal?: AbortSignal): Promise<void> {
    if (this.connected) return;
    const over = AbortSignal.timeout(Math.max(0, deadline - Date.now()));
    const either = signal ? AbortSignal.any([signal, over]) : over;
    await new Promise<void>((resolve) => {
      const done = () => {
        this.#waiting.delete(done);
        resolve();
      };
      if (either.aborted || this.nats.isClosed()) return resolve();
      this.#waiting.add(done);
      either.addEventListener('abort', done, { once: true });
    });
    if (signal?.aborted) throw new MegaNestError('cancelled');
    this.assertConnected();
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
      if (status.type === 'error') this.#hearRefusal(status.error);
      if (status.type !== 'reconnect') continue;
      this.#connected = true;
      this.#reconnects += 1;
      this.#waiting.forEach((go) => go());
    }
    this.#waiting.forEach((go) => go());
  }

  #hearRefusal(error: Error): void {
    const isRefusal = error instanceof errors.PermissionViolationError && error.operation === 'publish';
    if (isRefusal) this.onRefused(error.subject);
  }
}
