import { createHash } from 'node:crypto';
import { MegaNestError } from '#contracts';
import { NobodyThereError } from './wire.js';

interface KnownInstance {
  readonly id: string;
  /** Calls under way on it as it said last; undefined: it takes none that are sent to it by name. */
  announced: number | undefined;
  /** The models that it serves, where calls name one. */
  models: readonly string[];
  announcedAt: number;
  /** Its program knows nothing of loads. */
  isSilent: boolean;
  /** When it was asked first since its last answer. */
  askedAt: number | undefined;
  /** Calls of this client under way on it, now and at the announcement. */
  own: number;
  ownThen: number;
  /** It refused a call for lack of room; others are asked until then. */
  fullUntil: number;
}

interface KnownService {
  readonly instances: Map<string, KnownInstance>;
  /** The NATS server does not let this client call instances by name. */
  isForbidden: boolean;
}

/** An instance that has not answered for so long after a question is not chosen. */
const answerWithinMs = 500;
/** An announced load counts for so long. */
const loadCountsMs = 2_000;
/** An instance that has not answered for so long is forgotten. */
const forgetAfterMs = 30_000;
/** A refusal for lack of room counts for so long at most. */
const longestFullMs = 1_000;
/** The instance that an affinity prefers may have so many calls more than another one. */
const affinitySlack = 3;

/** What a call says about the instance that it wants. */
export interface Wish {
  /** The same key leads to the same instance as long as that is not busier than others. */
  affinity?: string;
  /** An instance that announces this model. */
  model?: string;
}

/**
 * Chooses the instance that gets a call: the less busy of two random ones. Knows the instances from their answers to the
 * questions of {@link InstanceWatch}. Where fewer than two are known the queue group of NATS chooses.
 */
export class InstanceChoice {
  readonly #services = new Map<string, KnownService>();
  /** What waits for an instance to answer. */
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

  /** An instance answered; `load`: what its header says, undefined for a program that announces none. */
  note(
    service: string,
    id: string,
    { load, models = [] }: { load: string | undefined; models?: readonly string[] },
  ): void {
    const { instances } = this.#serviceOf(service);
    const found = instances.get(id);
    const own = found?.own ?? 0;
    const announcement = {
      announced: load !== undefined && /^\d+$/.test(load) ? Number(load) : undefined,
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
   * Resolves when an instance is known that serves a model, at once where the instances of the service announce no
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

  /** Whether the instances of a service announce models, and none of them this one. */
  lacks(service: string, model: string): boolean {
    const known = [...this.#serviceOf(service).instances.values()];
    return known.some(({ models }) => models.length > 0) && !this.serves(service, model);
  }

  /** Whether an instance is known that serves a model. */
  serves(service: string, model: string): boolean {
    return this.#serving(service, model).length > 0;
  }

  /** False where no instance that is known does so; of a service that nothing is known of, it may. */
  #announcesModels(service: string): boolean {
    const { instances, isForbidden } = this.#serviceOf(service);
    const known = [...instances.values()];
    return !isForbidden && (known.length === 0 || known.some(({ models }) => models.length > 0));
  }

  /** After a new connection to NATS nobody is known. */
  forget(): void {
    this.#services.clear();
  }

  /** This client may not call the instances of a service by their names. */
  forbid(service: string): void {
    this.#serviceOf(service).isForbidden = true;
  }

  /** The way of one call, which may lead over several instances. */
  route(service: string, wish: Wish = {}): Route {
    return new Route({
      next: (tried) => this.#choose(service, tried, wish),
      hasOther: (tried) => this.#candidates(service, wish).some(({ id }) => !tried.has(id)),
      hasServing: (tried) => this.#serving(service, wish.model).some(({ id }) => !tried.has(id)),
      gone: (id) => void this.#services.get(service)?.instances.delete(id),
      isFull: (id, seconds) => this.#fill(service, id, seconds),
    });
  }

  /** A call was sent to an instance; the returned function tells that it has ended. */
  begin(service: string, id: string): () => void {
    const instance = this.#services.get(service)?.instances.get(id);
    if (!instance) return () => undefined;
    instance.own += 1;
    return () => void (instance.own -= 1);
  }

  /** Those that serve the model of a call; all of them where none does, or the call names none. */
  #candidates(service: string, { model }: Wish): KnownInstance[] {
    const serving = this.#serving(service, model);
    return serving.length > 0 ? serving : this.#usable(service);
  }

  #choose(service: string, tried: ReadonlySet<string>, wish: Wish): string | undefined {
    const candidatesOfAll = this.#candidates(service, wish);
    const { affinity, model } = wish;
    // The queue group knows nothing of models.
    const isNamed = model !== undefined && this.serves(service, model);
    if (candidatesOfAll.length < 2 && !isNamed) return undefined;
    const untried = candidatesOfAll.filter(({ id }) => !tried.has(id));
    const withRoom = untried.filter(({ fullUntil }) => fullUntil <= this.now());
    const candidates = withRoom.length > 0 ? withRoom : untried;
    const preferred = affinity === undefined ? undefined : preferredOf(candidates, affinity);
    const [first, second] = this.#twoOf(candidates.filter((one) => one !== preferred));
    const other = first && second && this.#score(second) < this.#score(first) ? second : first;
    if (!preferred || !other) return (preferred ?? other)?.id;
    return (this.#score(preferred) <= this.#score(other) + affinitySlack ? preferred : other).id;
  }

  #twoOf(candidates: KnownInstance[]): KnownInstance[] {
    if (candidates.length < 2) return candidates;
    const first = Math.floor(this.random() * candidates.length);
    const step = 1 + Math.floor(this.random() * (candidates.length - 1));
    return [candidates[first]!, candidates[(first + step) % candidates.length]!];
  }

  /** Calls under way: this client's own, and those of others as last announced. */
  #score({ own, ownThen, announced = 0, announcedAt }: KnownInstance): number {
    const ofOthers = this.now() - announcedAt < loadCountsMs ? Math.max(0, announced - ownThen) : 0;
    return own + ofOthers;
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

  /** The instances that serve a model and take calls; one that is slow to answer rather than one of another model. */
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
    if (instance) instance.fullUntil = this.now() + Math.min(seconds * 1_000, longestFullMs);
  }

  #serviceOf(service: string): KnownService {
    const known = this.#services.get(service) ?? { instances: new Map(), isForbidden: false };
    this.#services.set(service, known);
    return known;
  }
}

/** The instance that a key leads to, the same one for every client (rendezvous hashing). */
function preferredOf(candidates: readonly KnownInstance[], key: string): KnownInstance | undefined {
  let [best, highest] = [undefined as KnownInstance | undefined, ''];
  for (const candidate of candidates) {
    const weight = createHash('sha1').update(`${key} ${candidate.id}`).digest('hex');
    if (weight > highest) [best, highest] = [candidate, weight];
  }
  return best;
}

interface RouteMap {
  next(tried: ReadonlySet<string>): string | undefined;
  hasOther(tried: ReadonlySet<string>): boolean;
  hasServing(tried: ReadonlySet<string>): boolean;
  gone(id: string): void;
  isFull(id: string, seconds: number): void;
}

/** The instances that one call goes to, until one of them takes it. */
export class Route {
  readonly #tried = new Set<string>();
  #current: string | undefined;

  constructor(private readonly map: RouteMap) {}

  /** The next instance; undefined: whichever one the queue group chooses. */
  next(): string | undefined {
    this.#current = this.map.next(this.#tried);
    if (this.#current !== undefined) this.#tried.add(this.#current);
    return this.#current;
  }

  /**
   * Whether a call that failed goes to another instance: the one that got it is gone, full, or serves another model. Nothing of the
   * answer may have come.
   */
  goesOn(error: unknown): boolean {
    if (!(error instanceof MegaNestError)) return false;
    // The queue group gave it to an instance of another model.
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
