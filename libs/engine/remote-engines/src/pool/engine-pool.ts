import type { EngineModelSettings, EnginePolicy, EngineStatus } from '#platform/contracts';
import { createPolicy, type Policy } from '#platform/foundation';
import { Engine } from './engine.js';
import type { EngineTimes, PoolEntry } from './pool-entry.js';
import { PooledGenerator } from './pooled-generator.js';

/** What an operator says of a pool. */
export interface PoolPlan {
  readonly engines: readonly PoolEntry[];
  /** Settings of models, by their ids. */
  readonly models: ReadonlyMap<string, EngineModelSettings>;
}

export interface PoolOptions {
  /** Policy of models without one. Default `cache_aware`. */
  readonly policy?: EnginePolicy | undefined;
  readonly times?: EngineTimes;
  /** The served models may have changed. */
  readonly onModels?: () => void;
}

/** Engines that share the calls of the models that they serve. */
export class EnginePool {
  #engines: readonly Engine[] = [];
  #settings: ReadonlyMap<string, EngineModelSettings> = new Map();
  readonly #policies = new Map<string, { name: EnginePolicy; policy: Policy }>();
  readonly #generators = new Map<string, PooledGenerator>();

  constructor(private readonly options: PoolOptions = {}) {}

  /**
   * Replaces the engines and settings; an engine with an equal entry keeps its state. Resolves when the new engines
   * were asked for their models.
   */
  async apply({ engines, models }: PoolPlan): Promise<void> {
    this.#settings = models;
    const before = new Map(this.#engines.map((engine) => [keyOf(engine.entry), engine]));
    const { times = {} } = this.options;
    this.#engines = engines.map(
      (entry) => before.get(keyOf(entry)) ?? new Engine(entry, times, () => this.options.onModels?.()),
    );
    const kept = new Set(this.#engines);
    for (const engine of before.values()) if (!kept.has(engine)) engine.close();
    const known = new Set(before.values());
    await Promise.all(this.#engines.filter((engine) => !known.has(engine)).map((engine) => engine.start()));
    this.options.onModels?.();
  }

  /** Ids of the models that calls may name, sorted: those of engines, and those with other models in their place. */
  models(): string[] {
    const named = [...this.#settings].filter(([, { fallbacks }]) => fallbacks.length > 0).map(([id]) => id);
    const all = new Set([...this.#engines.flatMap(({ served }) => served), ...named]);
    return [...all].filter((id) => !this.isDisabled(id)).sort();
  }

  isDisabled(model: string): boolean {
    return this.#settings.get(model)?.disabled ?? false;
  }

  /** The models that answer in place of this one. */
  fallbacks(model: string): readonly string[] {
    return this.#settings.get(model)?.fallbacks ?? [];
  }

  /** The model on whichever of its engines is best for a call. */
  generator(model: string): PooledGenerator {
    const known = this.#generators.get(model);
    if (known) return known;
    const generator = new PooledGenerator(model, this);
    this.#generators.set(model, generator);
    return generator;
  }

  /** The engines that serve a model. */
  enginesOf(model: string): Engine[] {
    return this.#engines.filter((engine) => engine.serves(model));
  }

  /**
   * The engine for a call: one that takes calls, if there is one; otherwise one with an open circuit breaker, since a
   * trial may succeed. Undefined if all have been tried or are full.
   */
  choose(model: string, text: string, tried: ReadonlySet<Engine>): Engine | undefined {
    const candidates = this.#untried(model, tried);
    const ready = candidates.filter(({ isReady }) => isReady);
    const usable = ready.length > 0 ? ready : candidates;
    return usable.length === 0 ? undefined : this.#policyOf(model).choose(usable, text);
  }

  /** Whether a call that waits for an engine may find an answer on another one. */
  hasOther(model: string, engine: Engine): boolean {
    return this.enginesOf(model).some((other) => other !== engine && other.hasRoom && other.isReady);
  }

  #untried(model: string, tried: ReadonlySet<Engine>): Engine[] {
    return this.enginesOf(model).filter((engine) => !tried.has(engine) && engine.hasRoom);
  }

  status(): EngineStatus[] {
    return this.#engines.map((engine) => engine.status());
  }

  close(): void {
    for (const engine of this.#engines) engine.close();
  }

  #policyOf(model: string): Policy {
    const name = this.#settings.get(model)?.policy ?? this.options.policy ?? 'cache_aware';
    const known = this.#policies.get(model);
    if (known?.name === name) return known.policy;
    const policy = createPolicy(name);
    this.#policies.set(model, { name, policy });
    return policy;
  }
}

function keyOf({ spec, source }: PoolEntry): string {
  return JSON.stringify([source, spec]);
}
