import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { defineMethod, type ParsedRequestOf } from '#platform/contracts';
import { MessagingModule, RpcHandler, RpcServer } from '#platform/messaging';
import { builtFile } from '#platform/foundation';
import { Controller, Module, type DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { z } from 'zod';

/** Returns its input, at once or after a while; `inTurn`: after the earlier calls, like an engine with one thread. */
export const step = defineMethod({
  service: 'step',
  method: 'step',
  request: z.object({ text: z.string(), waitMs: z.number().optional(), inTurn: z.boolean().optional() }),
  reply: z.object({
    text: z.string(),
    tookMs: z.number().optional().describe('In turn: the time of the work itself'),
  }),
});

@Controller()
class StepController {
  #turn: Promise<unknown> = Promise.resolve();

  @RpcHandler(step)
  async step({ text, waitMs, inTurn }: ParsedRequestOf<typeof step>) {
    if (inTurn) return { text, tookMs: await this.#workInTurn(waitMs ?? 0) };
    if (waitMs !== undefined) await wait(waitMs);
    return { text };
  }

  #workInTurn(waitMs: number): Promise<number> {
    const work = this.#turn.then(async () => {
      const startedAt = performance.now();
      await wait(waitMs);
      return performance.now() - startedAt;
    });
    this.#turn = work;
    return work;
  }
}

@Module({})
class StepModule {
  static register(url: string): DynamicModule {
    const identity = { service: 'step', description: 'Does nothing.', version: '1.0.0' };
    return {
      module: StepModule,
      imports: [MessagingModule.register({ ...identity, url, name: identity.service })],
      controllers: [StepController],
    };
  }
}

/** Starts the service in a process of its own. */
export async function startStepService(natsUrl: string): Promise<ChildProcess> {
  const child = fork(builtFile('step-service'), [natsUrl]);
  await once(child, 'message');
  return child;
}

const [, program, url] = process.argv;
if (program === builtFile('step-service') && url !== undefined) {
  const app = await NestFactory.create(StepModule.register(url), new FastifyAdapter(), { logger: false });
  app.connectMicroservice({ strategy: app.get(RpcServer) });
  await app.startAllMicroservices();
  process.send?.('ready');
  process.once('disconnect', () => void app.close());
}
