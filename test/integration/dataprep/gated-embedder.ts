import {
  describeEmbeddingModel,
  embed,
  encodeVectors,
  MegaNestError,
  type ParsedRequestOf,
} from '#platform/contracts';
import { MessagingModule, RpcHandler, RpcServer, type RpcContext } from '#platform/messaging';
import { Controller, Inject, Module, type DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';

type EmbedRequest = ParsedRequestOf<typeof embed>;

/** Holds embedding back until the test lets it go, and tells when work arrives and when it is abandoned. */
export class Gate {
  /** Requests that arrived, refused ones included. */
  requests = 0;
  texts = 0;
  /** So many requests are answered with `overloaded` first. */
  refusals = 0;
  #isOpen = true;
  #waiting: (() => void)[] = [];
  #watchers: { isReached: () => boolean; resolve: () => void }[] = [];
  abandoned = 0;

  shut(): void {
    this.#isOpen = false;
  }

  open(): void {
    this.#isOpen = true;
    for (const pass of this.#waiting.splice(0)) pass();
  }

  /** Resolves once the condition holds; looked at whenever something happens here. */
  until(isReached: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      this.#watchers.push({ isReached, resolve });
      this.#notify();
    });
  }

  async pass({ inputs }: EmbedRequest, signal: AbortSignal): Promise<void> {
    this.requests += 1;
    this.#notify();
    if (this.refusals > 0) {
      this.refusals -= 1;
      throw new MegaNestError('overloaded', { service: 'embedding', detail: 'a full queue' });
    }
    if (!this.#isOpen) await this.#wait(signal);
    this.texts += inputs.length;
  }

  #wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push(resolve);
      signal.addEventListener('abort', () => {
        this.abandoned += 1;
        this.#notify();
        reject(new MegaNestError('cancelled'));
      });
    });
  }

  #notify(): void {
    const reached = this.#watchers.filter(({ isReached }) => isReached());
    this.#watchers = this.#watchers.filter((watcher) => !reached.includes(watcher));
    for (const { resolve } of reached) resolve();
  }
}

@Controller()
class GatedController {
  constructor(@Inject(Gate) private readonly gate: Gate) {}

  @RpcHandler(describeEmbeddingModel)
  describe() {
    return { id: 'gated', revision: '1', backend: 'fake', maxInputTokens: 512, created: 0, dimensions: 4 };
  }

  @RpcHandler(embed)
  async embed(request: EmbedRequest, context: RpcContext) {
    await this.gate.pass(request, context.signal);
    const vectors = request.inputs.map((input) => Float32Array.of(1, input.length, 0, 0));
    return { model: 'gated', dimensions: 4, vectors: encodeVectors(vectors), promptTokens: 0 };
  }
}

@Module({})
class GatedModule {
  static register(url: string, gate: Gate): DynamicModule {
    const identity = { service: 'embedding', description: 'Embeds when told to.', version: '1.0.0' };
    return {
      module: GatedModule,
      imports: [MessagingModule.register({ ...identity, url, name: 'gated-embedder' })],
      controllers: [GatedController],
      providers: [{ provide: Gate, useValue: gate }],
    };
  }
}

/** An embedding service in this process whose pace the test sets. */
export async function startGatedEmbedder(url: string): Promise<{ gate: Gate; stop(): Promise<void> }> {
  const gate = new Gate();
  const app = await NestFactory.create(GatedModule.register(url, gate), new FastifyAdapter(), {
    logger: false,
  });
  app.connectMicroservice({ strategy: app.get(RpcServer) });
  await app.startAllMicroservices();
  return { gate, stop: () => app.close() };
}
