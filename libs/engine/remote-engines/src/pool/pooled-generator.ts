import { MegaNestError, type ChatMessage, type ModelInfo, type TemplateVariables } from '#platform/contracts';
import { estimateTokens, retry } from '#platform/foundation';
import type { GenerateRequest, GenerationEvent, TokenCodec } from '#engine/generation';
import type { RemoteGenerator, ThoughtForm } from '../remote-generator-interface.js';
import { variablesWithoutThinking } from '../thinking-fields.js';
import type { Engine } from './engine.js';
import { isFaultOfEngine, type RunningCall } from './pool-entry.js';

/** Rounds over all engines of a model. */
const maxRounds = 3;
/** Pauses between two rounds, in milliseconds. A longer Retry-After ends the call. */
const pauses = { firstMs: 200, maxMs: 1_000, maxRetryAfterMs: 2_000 };
/** A whole answer shows that it goes on, at this interval in milliseconds. */
const signOfLifeMs = 10_000;

/** Context length of a model none of whose engines has been asked. */
const assumedContextLength = 8_192;

/** An answer whose first event is there. */
interface Begun {
  readonly first: IteratorResult<GenerationEvent, void>;
  readonly events: AsyncGenerator<GenerationEvent, void, void>;
  readonly call: RunningCall;
}

/** Chooses the engines of calls. */
interface EngineChoice {
  choose(model: string, text: string, tried: ReadonlySet<Engine>): Engine | undefined;
  enginesOf(model: string): Engine[];
  hasOther(model: string, engine: Engine): boolean;
}

/**
 * A model that several engines serve. A call goes to another engine if its engine fails before the first event, so that
 * the caller does not notice it.
 */
export class PooledGenerator implements RemoteGenerator {
  #member: RemoteGenerator | undefined;

  constructor(
    private readonly model: string,
    private readonly pool: EngineChoice,
  ) {}

  get info(): ModelInfo {
    return (
      this.#member?.info ?? {
        id: this.model,
        revision: 'remote',
        backend: 'openai',
        maxInputTokens: assumedContextLength,
        assumesLength: true,
        created: 0,
      }
    );
  }

  get thoughts(): ThoughtForm {
    return this.#member?.thoughts ?? { begin: false };
  }

  get withoutThinking(): TemplateVariables {
    return variablesWithoutThinking({ model: this.model });
  }

  get codec(): TokenCodec | undefined {
    return this.#member?.codec;
  }

  /** Opens the model on one of its engines, so that its properties are known. Errors: those of all engines. */
  async prepare(): Promise<void> {
    if (this.#member) return;
    let failure: unknown;
    const tried = new Set<Engine>();
    for (;;) {
      const engine = this.pool.choose(this.model, '', tried);
      if (!engine) break;
      tried.add(engine);
      try {
        this.#member = await engine.open(this.model);
        return;
      } catch (error) {
        engine.begin(() => undefined).fail(error);
        failure = error;
      }
    }
    throw failure ?? nobodyServes(this.model);
  }

  async *generate(
    request: GenerateRequest,
    signal?: AbortSignal,
  ): AsyncGenerator<GenerationEvent, void, void> {
    const left = new AbortController();
    const beginning = this.#begin(request, anyOf(left.signal, signal));
    try {
      if (request.whole) yield* signsOfLifeUntil(beginning);
      const { first, events, call } = await beginning;
      try {
        if (first.done) return;
        yield first.value;
        yield* events;
      } catch (error) {
        call.fail(error);
        throw error;
      }
    } finally {
      left.abort();
      beginning.then(leave, () => undefined);
    }
  }

  async countPromptTokens(
    messages: readonly ChatMessage[] | string,
    chatTemplateKwargs?: Readonly<Record<string, unknown>>,
  ): Promise<number> {
    if (this.#member) return this.#member.countPromptTokens(messages, chatTemplateKwargs);
    return estimateTokens(textOf(messages));
  }

  /** Passes if one of the engines takes calls. Errors: service_unavailable. */
  async check(signal: AbortSignal): Promise<void> {
    const engines = this.pool.enginesOf(this.model);
    if (engines.length === 1 && this.#member) return this.#member.check(signal);
    if (!engines.some(({ isReady }) => isReady)) throw nobodyServes(this.model);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  /** Begins an answer on one engine after the other, in a few rounds. Errors: that of the last engine. */
  async #begin(request: GenerateRequest, signal: AbortSignal | undefined): Promise<Begun> {
    const hasOthers = () => this.pool.enginesOf(this.model).length > 1;
    const isRetryable = (error: unknown, round: number) =>
      round < maxRounds &&
      hasOthers() &&
      isWorthAnotherEngine(error) &&
      (error.retryAfter ?? 0) * 1_000 <= pauses.maxRetryAfterMs;
    return retry({ isRetryable, ...pauses, signal }, () => this.#round(request, signal));
  }

  async #round(request: GenerateRequest, signal: AbortSignal | undefined): Promise<Begun> {
    const text = textOf(request.messages);
    const tried = new Set<Engine>();
    let failure: MegaNestError | undefined;
    for (;;) {
      const engine = this.pool.choose(this.model, text, tried);
      if (!engine) break;
      tried.add(engine);
      try {
        return await this.#beginOn(engine, request, signal);
      } catch (error) {
        if (signal?.aborted || !isWorthAnotherEngine(error)) throw error;
        failure = error;
      }
    }
    if (failure) throw failure;
    if (this.pool.enginesOf(this.model).length === 0) throw nobodyServes(this.model);
    const detail = `as many running calls on the engines of ${this.model} as they take`;
    throw new MegaNestError('overloaded', { service: 'llm', detail, retryAfter: 1 });
  }

  /** Waits for the first event. It stops waiting if the engine is silent and another one could answer. */
  async #beginOn(engine: Engine, request: GenerateRequest, signal: AbortSignal | undefined): Promise<Begun> {
    const left = new AbortController();
    const ended = anyOf(left.signal, signal);
    const abandon = () => void (this.pool.hasOther(this.model, engine) && left.abort());
    const call = engine.begin(abandon);
    // Again and again: another engine may be there later.
    const timer = setInterval(abandon, engine.entry.spec.first_token_timeout_ms);
    try {
      const generator = await engine.open(this.model);
      this.#member ??= generator;
      const events = generator.generate(request, ended);
      const first = await events.next();
      call.begun();
      return { first, events, call };
    } catch (error) {
      const failure = left.signal.aborted && !signal?.aborted ? silent(error) : error;
      call.fail(failure);
      call.end();
      throw failure;
    } finally {
      clearInterval(timer);
    }
  }
}

function isWorthAnotherEngine(error: unknown): error is MegaNestError {
  return error instanceof MegaNestError && (error.code === 'overloaded' || isFaultOfEngine(error));
}

function silent(cause: unknown): MegaNestError {
  return new MegaNestError('service_unavailable', {
    service: 'llm',
    detail: 'its engine does not answer',
    cause,
  });
}

function nobodyServes(model: string): MegaNestError {
  const detail = `none of the engines that serve ${model} can be reached`;
  return new MegaNestError('service_unavailable', { service: 'llm', detail, retryAfter: 1 });
}

function anyOf(own: AbortSignal, given: AbortSignal | undefined): AbortSignal {
  return given ? AbortSignal.any([own, given]) : own;
}

/** Ends a call whose answer is not read any further. Its stream is aborted, so that it may fail. */
function leave({ call, events }: Begun): void {
  call.end();
  events.return().catch(() => undefined);
}

/** Empty events while a whole answer is written, since the caller waits only for a limited time between two events. */
async function* signsOfLifeUntil(work: Promise<unknown>): AsyncGenerator<GenerationEvent, void, void> {
  const settled = work.then(
    () => true,
    () => true,
  );
  for (;;) {
    let timer: NodeJS.Timeout | undefined;
    const pause = new Promise<false>((resolve) => (timer = setTimeout(() => resolve(false), signOfLifeMs)));
    const isOver = await Promise.race([settled, pause]);
    clearTimeout(timer);
    if (isOver) return;
    yield { choice: 0, text: '', tokenIds: [] };
  }
}

function textOf(messages: readonly ChatMessage[] | string): string {
  return typeof messages === 'string' ? messages : messages.map(({ content }) => content).join('\n');
}
