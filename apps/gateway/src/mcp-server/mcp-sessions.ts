import { Drain } from '#platform/service-kit';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';

/** A session of an MCP client. */
export interface McpSession<SessionTransport extends Transport = Transport> {
  readonly id: string;
  readonly owner: string;
  readonly transport: SessionTransport;
  /** Ends the streams that wait for events; the answers of calls under way are still sent. */
  readonly endStreams: () => void;
}

interface KeptSession {
  session: McpSession;
  /** Requests under way. */
  busy: number;
  usedAt: number;
}

/** Limits of the sessions of a gateway. */
const usualLimits = { perOwner: 200, all: 2_000, idleMs: 60 * 60_000 };

/**
 * The open sessions of this gateway. A session belongs to the owner of the key that opened it. One that is not used for
 * an hour is closed; beyond the limits the one that was used least recently.
 */
@Injectable()
export class McpSessions implements OnApplicationShutdown {
  readonly #sessions = new Map<string, KeptSession>();
  readonly #timer: NodeJS.Timeout;
  #stopping = false;

  constructor(
    @Inject(Drain) drain: Pick<Drain, 'onBegin'>,
    private readonly limits = usualLimits,
  ) {
    this.#timer = setInterval(() => this.closeIdle(), Math.max(1_000, limits.idleMs / 60)).unref();
    drain.onBegin(() => {
      this.#stopping = true;
      for (const { session } of this.#sessions.values()) session.endStreams();
    });
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** True once the gateway is being stopped: no stream may begin. */
  get stopping(): boolean {
    return this.#stopping;
  }

  add(session: McpSession): void {
    this.#sessions.set(session.id, { session, busy: 0, usedAt: Date.now() });
    const { perOwner, all } = this.limits;
    this.#closeBeyond(perOwner, ({ owner }) => owner === session.owner);
    this.#closeBeyond(all, () => true);
  }

  /** Forgets a session that its transport has closed. */
  remove(id: string): void {
    this.#sessions.delete(id);
  }

  /** The session of an owner; undefined for an unknown one, and for one of another owner. */
  find(id: string, owner: string): McpSession | undefined {
    const kept = this.#sessions.get(id);
    if (kept?.session.owner !== owner) return undefined;
    kept.usedAt = Date.now();
    return kept.session;
  }

  /** Keeps a session open during a request; the returned function ends it. */
  use(id: string): () => void {
    const kept = this.#sessions.get(id);
    if (!kept) return () => undefined;
    kept.busy += 1;
    return () => {
      kept.busy -= 1;
      kept.usedAt = Date.now();
    };
  }

  /** Closes the sessions that nobody has used for the time of the limits. */
  closeIdle(now = Date.now()): void {
    for (const { session, busy, usedAt } of this.#sessions.values())
      if (busy === 0 && now - usedAt > this.limits.idleMs) this.#close(session);
  }

  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.allSettled([...this.#sessions.values()].map(({ session }) => session.transport.close()));
  }

  #closeBeyond(max: number, counts: (session: McpSession) => boolean): void {
    const counted = [...this.#sessions.values()].filter(({ session }) => counts(session));
    const oldest = counted.toSorted((a, b) => a.usedAt - b.usedAt);
    for (const { session } of oldest.slice(0, Math.max(0, counted.length - max))) this.#close(session);
  }

  #close({ id, transport }: McpSession): void {
    this.#sessions.delete(id);
    void transport.close();
  }
}
