import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { MegaNestError } from '#platform/contracts';
import { retry } from '#platform/foundation';
import { Logger } from '@nestjs/common';
import {
  connect,
  credsAuthenticator,
  errors,
  nkeyAuthenticator,
  type NatsConnection,
  type NodeConnectionOptions,
} from '@nats-io/transport-node';

/** The address of NATS, the credentials of this program, and the encryption of the connection. */
export interface ServerAccess {
  /** One URL, or a comma-separated list for a cluster, e.g. `nats://127.0.0.1:4222`; credentials in it are ignored. */
  url: string;
  user?: string;
  password?: string;
  token?: string;
  /** The seed of a user's key pair. */
  nkey?: string;
  /** Read at each connection, so that it may be replaced. */
  credentialsFile?: string;
  /** Set: the connection must be encrypted. */
  tls?: { caFile?: string; certFile?: string; keyFile?: string };
}

export interface ConnectionOptions extends ServerAccess {
  /** Shown by `nats server report connections`; answers to this program arrive below `_INBOX.<name>`. */
  name: string;
  /** Called with the reason while the first connection waits. Default: a warning in the log. */
  onWaiting?: (message: string) => void;
  /** A server that does not answer two pings at this interval is gone. Default 5,000. */
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
    // A machine that loses power or network does not close its connections.
    pingInterval: pingIntervalMs,
    maxPingOut: maxUnansweredPings,
    name,
    inboxPrefix: inboxPrefix(name),
    maxReconnectAttempts: -1,
    reconnectTimeWait: retryMs,
    // Credentials may be replaced while this runs; the first connection reports wrong credentials at once.
    ignoreAuthErrorAbort: true,
  });
}

/** A random token for a subject; the tokens of the client library are consecutive. */
export function unguessableToken(): string {
  return randomUUID().replaceAll('-', '');
}

function sayWaiting(message: string): void {
  new Logger('nats').warn(message);
}

/** True for an error that waiting does not solve: the credentials or the server have to change. */
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

/** A program's inboxes are below its name, so that permissions can keep other programs from reading its answers. */
export function inboxPrefix(name: string): string {
  return `_INBOX.${name.replaceAll(/[^\w-]/g, '_')}`;
}

/** Converts an access to options of the client library. */
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

/** One connection to NATS. It reconnects without a limit, and knows whether it is up. */
export class MessagingConnection {
  #connected = true;
  /** Time of the loss in epoch milliseconds. */
  #lostAt = 0;
  #reconnects = 0;
  /** Called with a subject that the server does not let this program publish to. */
  onRefused: (subject: string) => void = () => undefined;
  /** Callbacks for the next connection, and for its loss. */
  readonly #waiting = new Set<() => void>();
  readonly #losing = new Set<() => void>();

  private constructor(
    readonly nats: NatsConnection,
    private readonly name: string,
  ) {
    void this.#followStatus();
  }

  /**
   * Connects, and waits for a server that is not up yet; `onWaiting` gets the reason, at first and every ten seconds.
   * Errors: the server refuses the credentials, its certificate is not trusted, or it lacks the required TLS.
   */
  static async open(options: ConnectionOptions): Promise<MessagingConnection> {
    const { name, pingIntervalMs, onWaiting = sayWaiting, ...access } = options;
    const isRetryable = (error: unknown, attempt: number) => {
      if (isFinal(error)) return false;
      if (attempt % reportEvery === 1) onWaiting(`waiting for NATS at ${access.url}: ${describe(error)}`);
      return true;
    };
    try {
      const connect = () => connectOnce(access, { name, pingIntervalMs });
      return new MessagingConnection(await retry({ isRetryable, firstMs: retryMs }, connect), name);
    } catch (error) {
      throw new Error(`NATS at ${access.url}: ${describe(error)}`, { cause: error });
    }
  }

  get connected(): boolean {
    return this.#connected && !this.nats.isClosed() && !this.nats.isDraining();
  }

  /** Returns a new inbox of this connection; its last token cannot be guessed. */
  newInbox(): string {
    return `${inboxPrefix(this.name)}.${unguessableToken()}`;
  }

  /** Number of reconnects. */
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
   * Resolves when connected. Errors: service_unavailable if there is no connection by `deadline` (epoch milliseconds),
   * cancelled.
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

  /**
   * Resolves when `work` has ended, or when the connection is lost for longer than `graceMs`: work that waits for an answer
   * of the server does not end without the server. Errors: those of `work` until then.
   */
  async untilLost(work: Promise<unknown>, graceMs = 0): Promise<void> {
    const ended = new AbortController();
    const finished = work.finally(() => ended.abort());
    await Promise.race([finished, this.#whenLost(graceMs, ended.signal)]);
  }

  async close(): Promise<void> {
    if (this.nats.isClosed()) return;
    if (this.#connected) await this.untilLost(this.nats.drain());
    if (!this.nats.isClosed()) await this.nats.close();
  }

  /** Resolves when there was no connection for `graceMs`, or when `over` aborts. */
  async #whenLost(graceMs: number, over: AbortSignal): Promise<void> {
    while (!over.aborted && !this.nats.isClosed()) {
      if (this.#connected) await this.#nextLoss(over);
      else if (!(await this.#returnsBy(this.#lostAt + graceMs, over))) return;
    }
  }

  #nextLoss(over: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.#losing.delete(done);
        resolve();
      };
      this.#losing.add(done);
      over.addEventListener('abort', done, { once: true });
    });
  }

  /** False if there is no connection by `deadline`. */
  #returnsBy(deadline: number, over: AbortSignal): Promise<boolean> {
    return this.whenConnected(deadline, over).then(
      () => true,
      () => over.aborted,
    );
  }

  async #followStatus(): Promise<void> {
    for await (const status of this.nats.status()) {
      if (status.type === 'disconnect' || status.type === 'staleConnection') this.#lose();
      if (status.type === 'error') this.#hearRefusal(status.error);
      if (status.type !== 'reconnect') continue;
      this.#connected = true;
      this.#reconnects += 1;
      this.#waiting.forEach((go) => go());
    }
    this.#waiting.forEach((go) => go());
    this.#losing.forEach((go) => go());
  }

  #lose(): void {
    if (this.#connected) this.#lostAt = Date.now();
    this.#connected = false;
    this.#losing.forEach((go) => go());
  }

  #hearRefusal(error: Error): void {
    const isRefusal = error instanceof errors.PermissionViolationError && error.operation === 'publish';
    if (isRefusal) this.onRefused(error.subject);
  }
}
