import type { Msg } from '@nats-io/transport-node';
import type { Announcement } from './instance-choice.js';
import { aliveSubject, header, modelsOf } from './wire.js';

/** The part of a call that shows whether its instance is alive. */
export interface WatchedCall {
  readonly method: { readonly service: string };
  /** The instance that runs it, from its heartbeat. */
  readonly instance: string | undefined;
  /** Its instance is gone. */
  lose(): void;
  /** An instance of its service is gone, perhaps its own: without a sign of life soon, the call is lost. */
  suspect(): void;
}

export interface InstanceWatchOptions {
  publish(subject: string, reply: string): void;
  /** All instances of a service were asked for their names, and one has answered. */
  onAsked?(service: string): void;
  onAnswer?(service: string, id: string, said: Announcement): void;
  now?: () => number;
  /** Subject of the answers, without the tokens of the service and of the question. */
  inbox: string;
  /** The calls that wait for an answer. */
  calls(): Iterable<WatchedCall>;
}

interface Instance {
  readonly service: string;
  readonly id: string;
  /** Consecutive questions without an answer; an instance that only reconnects comes back. */
  misses: number;
}

/** Questions without an answer after which an instance counts as gone. */
const maxMisses = 5;
/** Interval of the questions for a called service's instances and their load. */
const askEveryMs = 500;
/** Prefix of the last token of a watch's answer subjects; a call id does not contain a hyphen. */
const prefix = 'alive-';
/** Separates a service and its instance in such a token; neither contains it. */
const border = '=';
/** An instance's name as a token of a subject. For an instance with another name, only silence shows its death. */
export const instanceName = /^[\w-]{1,64}$/;

/**
 * Notices the death of instances while calls wait for them: an instance listens on its own subject while it is
 * connected, and the NATS server reports a subject without a listener. Services without such a subject are not watched.
 */
export class InstanceWatch {
  /** By service and name. */
  readonly #instances = new Map<string, Instance>();
  /** Time of the last question to each service. */
  readonly #askedAt = new Map<string, number>();

  constructor(private readonly options: InstanceWatchOptions) {}

  /** Asks the instances of a service for their names and loads, at most every {@link askEveryMs}. */
  meet(service: string): void {
    if (this.#now() - (this.#askedAt.get(service) ?? -askEveryMs) >= askEveryMs) this.ask(service);
  }

  /** Asks all instances of the services whose calls have been silent. */
  look(services: ReadonlySet<string>): void {
    for (const service of services) this.ask(service);
    for (const [asked, { service, id }] of this.#instances)
      if (services.has(service))
        this.options.publish(aliveSubject(service, id), this.#inboxOf(service, asked));
  }

  /**
   * Handles an answer to this watch's question. The last token of the subject identifies it; other messages are
   * ignored.
   */
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
    this.options.onAnswer?.(service, id, {
      load: headers?.get(header.load) || undefined,
      bulk: headers?.get(header.bulk) || undefined,
      models: modelsOf(headers?.get(header.models)),
    });
  }

  #now(): number {
    return (this.options.now ?? (() => performance.now()))();
  }

  /**
   * Forgets the instances after a new connection to NATS: they have to reconnect too, and are unknown until they
   * answer.
   */
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

  /** The subject of an instance, or of a whole service, does not have a listener. A service does not have an entry. */
  #miss(asked: string): void {
    const instance = this.#instances.get(asked);
    if (!instance) return;
    instance.misses += 1;
    if (instance.misses < maxMisses) return;
    this.#instances.delete(asked);
    for (const call of this.options.calls()) {
      if (call.method.service !== instance.service) continue;
      if (call.instance === instance.id) call.lose();
      else if (call.instance === undefined) call.suspect();
    }
  }
}
