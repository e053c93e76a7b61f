import { setTimeout as delay } from 'node:timers/promises';
import {
  assertServedModel,
  defineMethod,
  healthMethod,
  MegaNestError,
  type ParsedRequestOf,
} from '#platform/contracts';
import {
  MessagingConnection,
  MessagingModule,
  RpcHandler,
  RpcServer,
  type RpcContext,
} from '#platform/messaging';
import { Controller, Inject, Module, type DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { z } from 'zod';

export const echo = defineMethod({
  service: 'echo',
  method: 'echo',
  request: z.object({
    text: z.string().min(1),
    fail: z.boolean().default(false),
    hang: z.boolean().default(false),
    repeat: z.boolean().default(false),
    model: z.string().optional(),
  }),
  reply: z.object({ text: z.string(), instance: z.string() }),
});

export const count = defineMethod({
  service: 'echo',
  method: 'count',
  request: z.object({ upTo: z.int(), failAt: z.int().optional() }),
  reply: z.object({ value: z.int() }),
  streaming: true,
});

/** Takes its time, one call after the other, as an engine does. */
export const work = defineMethod({
  service: 'echo',
  method: 'work',
  request: z.object({}),
  reply: z.object({ instance: z.string() }),
});

/** How fast an instance works, and how many calls it takes at a time. */
export interface Workplace {
  workMs: number;
  capacity: number;
}

/** A method that nobody serves. */
export const nobody = healthMethod('nobody');

/** What the service did, for the test to look at. */
export class Witness {
  produced = 0;
  /** Calls that hang. */
  started = 0;
  readonly #waiting: (() => void)[] = [];
  stopped = false;

  stop(): void {
    this.stopped = true;
    for (const resolve of this.#waiting) resolve();
  }

  /** Resolves when a stream or a hanging call was told to stop. */
  whenStopped(): Promise<void> {
    return this.stopped ? Promise.resolve() : new Promise((resolve) => this.#waiting.push(resolve));
  }
}

@Controller()
class EchoController {
  constructor(
    @Inject(Witness) private readonly witness: Witness,
    @Inject('instance') private readonly instance: string,
    @Inject('workplace') private readonly workplace: Workplace,
  ) {}

  #queue: Promise<unknown> = Promise.resolve();
  #queued = 0;

  @RpcHandler(work)
  async work() {
    const { workMs, capacity } = this.workplace;
    if (this.#queued >= capacity)
      throw new MegaNestError('overloaded', { service: 'echo', detail: this.instance, retryAfter: 1 });
    this.#queued += 1;
    this.#queue = this.#queue.then(() => delay(workMs));
    await this.#queue;
    this.#queued -= 1;
    return { instance: this.instance };
  }

  @RpcHandler(echo)
  async echo(request: ParsedRequestOf<typeof echo>, context: RpcContext) {
    assertServedModel(request.model, this.instance);
    if (request.repeat) throw new Error(`not understood: ${request.text.repeat(3)}`);
    if (request.fail) throw new Error('the disk is on fire');
    if (request.hang) await this.#hang(context.signal);
    return { text: request.text, instance: this.instance };
  }

  @RpcHandler(count)
  async *count(request: ParsedRequestOf<typeof count>, context: RpcContext) {
    try {
      for (let value = 0; value < request.upTo && !context.signal.aborted; value += 1) {
        if (value === request.failAt) throw new Error('lost count');
        this.witness.produced += 1;
        yield { value };
        await new Promise((resolve) => setImmediate(resolve));
      }
    } finally {
      this.witness.stop();
    }
  }

  async #hang(signal: AbortSignal): Promise<void> {
    this.witness.started += 1;
    signal.addEventListener('abort', () => this.witness.stop(), { once: true });
    // A cancel may come in the same packet as the call, before this runs.
    if (signal.aborted) this.witness.stop();
    await this.witness.whenStopped();
  }
}

@Module({})
class EchoModule {
  static register(url: string, instance: string, witness: Witness, workplace: Workplace): DynamicModule {
    const identity = { service: 'echo', description: 'Echoes.', version: '1.0.0' };
    return {
      module: EchoModule,
      imports: [MessagingModule.register({ ...identity, url, name: `echo-${instance}` })],
      controllers: [EchoController],
      providers: [
        { provide: Witness, useValue: witness },
        { provide: 'instance', useValue: instance },
        { provide: 'workplace', useValue: workplace },
      ],
    };
  }
}

export interface EchoInstance {
  witness: Witness;
  /** Cuts its connection to NATS for good, without a word, as the end of its process would. */
  die(): Promise<void>;
  /** Begins to stop, as the process does at SIGTERM. */
  drain(over: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** An instance of the echo service in this process, with a NATS connection of its own. */
export async function startEcho(
  url: string,
  instance = 'one',
  workplace: Workplace = { workMs: 0, capacity: Infinity },
): Promise<EchoInstance> {
  const witness = new Witness();
  const module = EchoModule.register(url, instance, witness, workplace);
  const app = await NestFactory.create(module, new FastifyAdapter(), { logger: false });
  app.connectMicroservice({ strategy: app.get(RpcServer) });
  app.get(RpcServer).showLoad(() => Promise.resolve({ echo_calls: { started: witness.started } }));
  await app.startAllMicroservices();
  const die = async () => {
    await app.get(MessagingConnection).nats.close();
    witness.stop();
  };
  const drain = (over: AbortSignal) => app.get(RpcServer).drain(over);
  return { witness, die, drain, close: () => app.close() };
}
