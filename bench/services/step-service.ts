import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { defineMethod, type ParsedRequestOf } from '#contracts';
import { MessagingModule, RpcHandler, RpcServer } from '#messaging';
import { builtFile } from '#paths';
import { Controller, Module, type DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { z } from 'zod';

/** Answers what it is sent, at once or after a while. */
export const step = defineMethod({
  service: 'step',
  method: 'step',
  request: z.object({ text: z.string(), waitMs: z.number().optional() }),
  reply: z.object({ text: z.string() }),
});

@Controller()
class StepController {
  @RpcHandler(step)
  async step({ text, waitMs }: ParsedRequestOf<typeof step>) {
    if (waitMs !== undefined) await wait(waitMs);
    return { text };
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

/** The service in a process of its own, as services run. */
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
