import { preferredOf, twoOf, type Priority } from '#platform/foundation';
import { MegaNestError } from '#platform/contracts';
import { NobodyThereError } from './wire.js';

/** The values of the headers of an instance's answer. */
export interface Announcement {
  /** Undefined for a program that does not announce loads. */
  load: string | undefined;
  /** Number of its running calls that are bulk work. */
  bulk?: string | undefined;
  models?: readonly string[];
}

interface KnownInstance {
  readonly id: string;
  /** Its running calls, as it last announced them; undefined: it does not take calls by name. */
  announced: number | undefined;
  /** The number of them that are bulk work. */
  bulk: number;
  /** The models that it serves, if calls name models. */
  models: readonly string[];
  announcedAt: number;
  /** Its program does not announce loads. */
  isSilent: boolean;
  /** Time of the first question after its last answer. */
  askedAt: number | undefined;
  /** Running calls of this client on it, now and at the announcement. */
  own: number;
  ownThen: number;
  /** It refused a call for lack of room; calls go to other instances until this time. */
  fullUntil: number;
}

interface KnownService {
  readonly instances: Map<string, KnownInstance>;
  /** The NATS server does not let this client call instances by name. */
  isForbidden: boolean;
}

/** An instance that has not answered a question for this time is not chosen. */
const answerWithinMs = 500;
/** Lifetime of an announced load. */
const loadCountsMs = 2_000;
/** An instance that has not answered for this time is forgotten. */
const forgetAfterMs = 30_000;
/** Maximum lifetime of a refusal for lack of room. */
const maxFullMs = 1_000;
/** Number of calls that an instance preferred by affinity may have more than another one. */
const affinitySlack = 3;

/** The preferences of a call for an instance. */
export interface Wish {
  /** The same key leads to the same instance unless it is busier than others. */
  affinity?: string;
  /** An instance that announces this model. */
  model?: string;
  /** Other bulk work delays an interactive call only by one batch. */
  priority?: Priority;
}

/**
 * Chooses the instance for a call: the less busy of two random ones. It knows the instances from their answers to the
 * questions of {@link InstanceWatch}. If it knows fewer than two, the queue group of NATS chooses.
 */
export class InstanceChoice {
  readonly #services = new Map<string, KnownService>();
  /** Callbacks for the next answer of an instance. */
  readonly #listeners = new Set<() => unknown>();

  constructor(
    private readonly now: () => number = () => performance.now(),
    private readonly random: () => number = Math.random,
  ) {}

  /** The instances of a service were asked for their load. */
  asked(service: string): void {
    const now = this.now();
    const { instances } = this.#serviceOf(service);
    for (const instance of instances.values()) {
      instance.askedAt ??= now;
      if (now - instance.askedAt > forgetAfterMs) instances.delete(instance.id);
    }
  }

  /** An instance answered. */
  note(service: string, id: string, { load, bulk, models = [] }: Announcement): void {
    const { instances } = this.#serviceOf(service);
    const found = instances.get(id);
    const own = found?.own ?? 0;
    const announcement = {
      announced: countOf(load),
      bulk: countOf(bulk) ?? 0,
      models,
      announcedAt: this.now(),
      isSilent: load === undefined,
      askedAt: undefined,
      ownThen: own,
    };
    if (found) Object.assign(found, announcement);
    else instances.set(id, { id, own, fullUntil: 0, ...announcement });
    for (const hear of this.#listeners) hear();
  }

  /**
   * Resolves when an instance that serves the model is known, at once if the instances of the service do not announce
   * models, and after `limitMs` at the latest. The caller asks the instances.
   */
  async whenServed(service: string, model: string, limitMs: number): Promise<void> {
    const isSettled = () => this.serves(service, model) || !this.#announcesModels(service);
    if (isSettled()) return;
    await new Promise<void>((resolve) => {
      const end = () => {
        clearTimeout(timer);
        this.#listeners.delete(hear);
        resolve();
      };
      const hear = () => isSettled() && end();
      const timer = setTimeout(end, limitMs);
      this.#listeners.add(hear);
    });
  }

  /** True if the instances of a service announce models but not this one. */
  lacks(service: string, model: string): boolean {
    const known = [...this.#serviceOf(service).instances.values()];
    return known.some(({ models }) => models.length > 0) && !this.serves(service, model);
  }

  /** True if a known instance serves the model. */
  serves(service: string, model: string): boolean {
    return this.#serving(service, model).length > 0;
  }

  /** False if the known instances do not announce models; true for an unknown service, which may. */
  #announcesModels(service: string): boolean {
    const { instances, isForbidden } = this.#serviceOf(service);
    const known = [...instances.values()];
    return !isForbidden && (known.length === 0 || known.some(({ models }) => models.length > 0));
  }

  /** Forgets all instances, after a new connection to NATS. */
  forget(): void {
    this.#services.clear();
  }

  /** This client may not call the instances of a service by their names. */
  forbid(service: string): void {
    this.#serviceOf(service).isForbidden = true;
  }

  /** Returns the route of one call, which may try several instances. */
  route(service: string, wish: Wish = {}): Route {
    return new Route({
      next: (tried) => this.#choose(service, tried, wish),
      hasOther: (tried) => this.#candidates(service, wish).some(({ id }) => !tried.has(id)),
      hasServing: (tried) => this.#serving(service, wish.model).some(({ id }) => !tried.has(id)),
      gone: (id) => void this.#services.get(service)?.instances.delete(id),
      isFull: (id, seconds) => this.#fill(service, id, seconds),
    });
  }

  /** Counts a call on an instance; the returned function ends it. */
  begin(service: string, id: string): () => void {
    const instance = this.#services.get(service)?.instances.get(id);
    if (!instance) return () => undefined;
    instance.own += 1;
    return () => void (instance.own -= 1);
  }

  /** Returns the instances that serve the model of a call; all instances if none does, or without a model. */
  #candidates(service: string, { model }: Wish): KnownInstance[] {
    const serving = this.#serving(service, model);
    return serving.length > 0 ? serving : this.#usable(service);
  }

  #choose(service: string, tried: ReadonlySet<string>, wish: Wish): string | undefined {
    const candidatesOfAll = this.#candidates(service, wish);
    const { affinity, model, priority } = wish;
    const score = (instance: KnownInstance) => this.#score(instance, priority);
    // The queue group ignores models.
    const isNamed = model !== undefined && this.serves(service, model);
    if (candidatesOfAll.length < 2 && !isNamed) return undefined;
    const untried = candidatesOfAll.filter(({ id }) => !tried.has(id));
    const withRoom = untried.filter(({ fullUntil }) => fullUntil <= this.now());
    const candidates = withRoom.length > 0 ? withRoom : untried;
    const preferred = affinity === undefined ? undefined : preferredOf(candidates, affinity);
    const others = candidates.filter((one) => one !== preferred);
    const [first, second] = twoOf(others, this.random);
    const other = first && second && score(second) < score(first) ? second : first;
    if (!preferred || !other) return (preferred ?? other)?.id;
    return (score(preferred) <= score(other) + affinitySlack ? preferred : other).id;
  }

  /**
   * Running calls: this client's own, and the calls of others at the last announcement. For an interactive call the
   * bulk calls of others count as one, because it waits for one batch of them at most.
   */
  #score({ own, ownThen, announced = 0, bulk, announcedAt }: KnownInstance, priority?: Priority): number {
    const ofOthers = this.now() - announcedAt < loadCountsMs ? Math.max(0, announced - ownThen) : 0;
    if (priority === 'bulk') return own + ofOthers;
    const passed = Math.max(0, Math.min(bulk, ofOthers) - 1);
    return own + ofOthers - passed;
  }

  #usable(service: string): KnownInstance[] {
    const known = this.#services.get(service);
    if (!known || known.isForbidden) return [];
    const answering = [...known.instances.values()].filter((instance) => this.#answers(instance));
    if (answering.some(({ isSilent }) => isSilent)) return [];
    return answering.filter(({ announced }) => announced !== undefined);
  }

  #answers({ askedAt }: KnownInstance): boolean {
    return askedAt === undefined || this.now() - askedAt < answerWithinMs;
  }

  /** Returns the instances that serve a model and take calls. A slow instance is better than one of another model. */
  #serving(service: string, model: string | undefined): KnownInstance[] {
    const known = this.#services.get(service);
    if (!known || known.isForbidden || model === undefined) return [];
    const serving = [...known.instances.values()].filter(
      ({ announced, models }) => announced !== undefined && models.includes(model),
    );
    const answering = serving.filter((instance) => this.#answers(instance));
    return answering.length > 0 ? answering : serving;
  }

  #fill(service: string, id: string, seconds: number): void {
    const instance = this.#services.get(service)?.instances.get(id);
    if (instance) instance.fullUntil = this.now() + Math.min(seconds * 1_000, maxFullMs);
  }

  #serviceOf(service: string): KnownService {
    const known = this.#services.get(service) ?? { instances: new Map(), isForbidden: false };
    this.#services.set(service, known);
    return known;
  }
}

/** Returns the number in a header; undefined if it is not a number. */
function countOf(value: string | undefined): number | undefined {
  return value !== undefined && /^\d+$/.test(value) ? Number(value) : undefined;
}

interface RouteMap {
  next(tried: ReadonlySet<string>): string | undefined;
  hasOther(tried: ReadonlySet<string>): boolean;
  hasServing(tried: ReadonlySet<string>): boolean;
  gone(id: string): void;
  isFull(id: string, seconds: number): void;
}

/** The instances that one call tries, until one of them takes it. */
export class Route {
  readonly #tried = new Set<string>();
  #current: string | undefined;

  constructor(private readonly map: RouteMap) {}

  /** Returns the next instance; undefined: the queue group chooses. */
  next(): string | undefined {
    this.#current = this.map.next(this.#tried);
    if (this.#current !== undefined) this.#tried.add(this.#current);
    return this.#current;
  }

  /**
   * True if a failed call can go to another instance: its instance is gone, is full, or serves another model. It must
   * not have got a reply.
   */
  goesOn(error: unknown): boolean {
    if (!(error instanceof MegaNestError)) return false;
    // The queue group chose an instance of another model.
    if (this.#current === undefined)
      return error.code === 'model_not_found' && this.map.hasServing(this.#tried);
    if (error instanceof NobodyThereError) {
      this.map.gone(this.#current);
      return true;
    }
    if (error.code === 'overloaded') this.map.isFull(this.#current, error.retryAfter ?? 1);
    else if (error.code !== 'model_not_found') return false;
    return this.map.hasOther(this.#tried);
  }
}
