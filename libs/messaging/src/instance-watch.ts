import type { Msg } from '@nats-io/transport-node';
import { aliveSubject, header, modelsOf } from './wire.js';

/** Of a call as much as tells whether the instance that runs it still lives. */
export interface WatchedCall {
  readonly method: { readonly service: string };
  /** The instance that runs it, once its heartbeat said so. */
  readonly instance: string | undefined;
  /** Its instance is gone. */
  lose(): void;
  /** An instance of its service is gone that may have been its own: without a sign of life soon, it is lost. */
  suspect(): void;
}

export interface InstanceWatchOptions {
  publish(subject: string, reply: string): void;
  /** All instances of a service were asked who they are, and one has answered. */
  onAsked?(service: string): void;
  onAnswer?(service: string, id: string, said: { load: string | undefined; models: string[] }): void;
  now?: () => number;
  /** Subject of the answers, up to the tokens of the service and of what this watch asked. */
  inbox: string;
  /** The calls that wait for an answer. */
  calls(): Iterable<WatchedCall>;
}

interface Instance {
  readonly service: string;
  readonly id: string;
  /** How often in a row it was looked for without being found; a connection that is only being renewed comes back. */
  misses: number;
}

/** Looks without an answer after which an instance counts as gone. */
const mostMisses = 5;
/** A service that is called is asked so often for its instances and their load. */
const askEveryMs = 500;
/** Begins the last token of the subjects that a watch is answered on; no call id holds a hyphen. */
const prefix = 'alive-';
/** Between a service and its instance in such a token; neither holds one. */
const border = '=';
/** An instance's name as a token of a subject; whoever has another one is judged by silence. */
export const instanceName = /^[\w-]{1,64}$/;

/**
 * Notices the death of instances while calls wait for them: an instance listens on a subject of its own for as long as it
 * is connected, and the NATS server itself says when nobody does. Services that know nothing of it are left alone.
 */
export class InstanceWatch {
  /** By service and name. */
  readonly #instances = new Map<string, Instance>();
  /** When each service was asked for its instances. */
  readonly #askedAt = new Map<string, number>();

  constructor(private readonly options: InstanceWatchOptions) {}

  /** Asks who the instances of a service are and how busy, at most every {@link askEveryMs}. */
  meet(service: string): void {
    if (this.#now() - (this.#askedAt.get(service) ?? -askEveryMs) >= askEveryMs) this.ask(service);
  }

  /** Looks for all instances of the services whose calls have been quiet. */
  look(services: ReadonlySet<string>): void {
    for (const service of services) this.ask(service);
    for (const [asked, { service, id }] of this.#instances)
      if (services.has(service))
        this.options.publish(aliveSubject(service, id), this.#inboxOf(service, asked));
  }

  /** Takes an answer to what this watch asked of a service; other messages, by the last token of their subject, are none of its. */
  accept(message: Pick<Msg, 'headers' | 'string'>, service: string, token: string): void {
    if (!token.startsWith(prefix)) return;
    const asked = token.slice(prefix.length);
    if (asked !== service && !asked.startsWith(service + border)) return;
    if (message.headers?.code === 503) this.#miss(asked);
    else this.#note(asked, message);
  }

  #note(service: string, message: Pick<Msg, 'headers' | 'string'>): void {
    const { headers } = message;
    const id = message.string();
    if (!instanceName.test(id)) return;
    this.#instances.set(`${service}${border}${id}`, { service, id, misses: 0 });
    const load = headers?.get(header.load) || undefined;
    this.options.onAnswer?.(service, id, { load, models: modelsOf(headers?.get(header.models)) });
  }

  #now(): number {
    return (this.options.now ?? (() => performance.now()))();
  }

  /** After a new connection to NATS an instance is unknown until it answers: the others have to connect again, too. */
  forget(): void {
    this.#instances.clear();
    this.#askedAt.clear();
  }

  /** Asks them now. */
  ask(service: string): void {
    this.#askedAt.set(service, this.#now());
    this.options.onAsked?.(service);
    this.options.publish(aliveSubject(service), this.#inboxOf(service, service));
  }

  #inboxOf(service: string, asked: string): string {
    return `${this.options.inbox}.${service}.${prefix}${asked}`;
  }

  /** Nobody listens where an instance was looked for, or where all of a service answer, who have no entry. */
  #miss(asked: string): void {
    const instance = this.#instances.get(asked);
    if (!instance) return;
    instance.misses += 1;
    if (instance.misses < mostMisses) return;
    this.#instances.delete(asked);
    for (const call of this.options.calls()) {
      if (call.method.service !== instance.service) continue;
      if (call.instance === instance.id) call.lose();
      else if (call.instance === undefined) call.suspect();
    }
  }
}
