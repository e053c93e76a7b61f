import { MessagingModule, RpcServer } from '#platform/messaging';
import type { DynamicModule } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { z } from 'zod';
import { runMain, startService } from './bootstrap.js';
import { readEnvironment, type BaseEnvironment } from './config/environment.js';
import { messagingOptions } from './config/nats-access.js';
import type { ServiceIdentity } from './service-identity.js';
import { ServiceKitModule } from './service-kit.module.js';

/** A program that serves HTTP and NATS: its name, its settings and its parts. */
export interface ServiceDefinition<Settings extends BaseEnvironment> {
  identity: ServiceIdentity;
  /** The schema of its environment variables. */
  environment: z.ZodType<Settings>;
  /** 0 picks a free port. */
  port: (environment: Settings) => number;
  /** Its controllers and providers. Messaging, health, metrics and the API document are added. */
  module: (environment: Settings) => DynamicModule;
  /** It may download a model first, and answers probes in the meantime. */
  loadsModel?: boolean;
  /** What `defineNode` says of a service that mega services call: see docs/services.md. */
  node?: { readonly metadata: Record<string, string> };
  /** Called before the service listens, e.g. to register Fastify plugins. */
  configure?: (app: NestFastifyApplication, environment: Settings) => Promise<void> | void;
}

/**
 * Runs a service until SIGTERM or SIGINT. Wrong settings, and a failure at the start, are one line on stderr and exit
 * code 1.
 */
export async function runService<Settings extends BaseEnvironment>(
  service: ServiceDefinition<Settings>,
): Promise<void> {
  await runMain(() => {
    const environment = readEnvironment(service.environment);
    return startService({
      identity: service.identity,
      environment,
      port: service.port(environment),
      module: withPlatform(service, environment),
      transport: RpcServer,
      loadsModel: service.loadsModel,
      configure: (app) => service.configure?.(app, environment),
    });
  });
}

/** The module of a service, with the modules that each service has. */
function withPlatform<Settings extends BaseEnvironment>(
  { identity, node, module }: ServiceDefinition<Settings>,
  environment: Settings,
): DynamicModule {
  const parts = module(environment);
  const platform = [
    ServiceKitModule.register(identity),
    MessagingModule.register({ ...messagingOptions(identity, environment), ...node }),
  ];
  return { ...parts, imports: [...platform, ...(parts.imports ?? [])] };
}
