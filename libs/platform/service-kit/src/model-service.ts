import type { ModelInfo, RpcMethod } from '#platform/contracts';
import { RpcHandler } from '#platform/messaging';
import {
  Controller,
  Inject,
  Injectable,
  type DynamicModule,
  type OnApplicationShutdown,
} from '@nestjs/common';
import type { BaseEnvironment } from './config/environment.js';
import { loadProfile, type Profile } from './config/profile.js';
import { HealthRegistry } from './health/health.registry.js';
import type { ServiceDefinition } from './run-service.js';

/** A loaded model, or a connection to the engine that runs it. */
export interface Model {
  readonly info: ModelInfo;
  close(): Promise<void>;
}

/** The model of a service: opened at the start, probed for the health report, closed at the end. */
@Injectable()
export class ServedModel<
  Served extends Model = Model,
  Info extends ModelInfo = ModelInfo,
> implements OnApplicationShutdown {
  constructor(
    readonly model: Served,
    private readonly describe: (model: Served) => Info,
  ) {}

  /** Its description, for lists of models. */
  get info(): Info {
    return this.describe(this.model);
  }

  get id(): string {
    return this.model.info.id;
  }

  async onApplicationShutdown(): Promise<void> {
    await this.model.close();
  }
}

/** The parts of a service around one model. */
export interface ModelServiceDefinition<Settings extends BaseEnvironment, Served extends Model> extends Omit<
  ServiceDefinition<Settings>,
  'module'
> {
  /** Loads the configured model, or connects to its engine. Errors: an Error with the failed part and the reason. */
  open: (environment: Settings, profile: Profile) => Promise<Served>;
  /** A short run of the model for the health report. Errors: those of the model. */
  probe: (model: Served, signal: AbortSignal) => Promise<unknown>;
  /** The NATS method that describes the model, and its answer if that is more than `info`. */
  describe: RpcMethod;
  description?: (model: Served) => ModelInfo;
  /** Controllers and providers of its own; they inject {@link ServedModel}. */
  parts: (
    environment: Settings,
    profile: Profile,
  ) => Required<Pick<DynamicModule, 'controllers' | 'providers'>>;
}

/** A service around one model, for `runService`: it loads the model, shows its health, and describes it over NATS. */
export function modelService<Settings extends BaseEnvironment, Served extends Model>(
  definition: ModelServiceDefinition<Settings, Served>,
): ServiceDefinition<Settings> {
  const { open, probe, describe, description = ({ info }: Served) => info, parts, ...service } = definition;
  return {
    ...service,
    module(environment) {
      const profile = loadProfile(environment.MEGANEST_PROFILE);
      const { controllers, providers } = parts(environment, profile);
      const served = {
        provide: ServedModel,
        inject: [HealthRegistry],
        useFactory: async (health: HealthRegistry) => {
          const model = await open(environment, profile);
          health.register('model', async (signal) => {
            await probe(model, signal);
            return model.info.id;
          });
          return new ServedModel(model, description);
        },
      };
      return {
        module: class ModelServiceModule {},
        controllers: [...controllers, describingController(describe)],
        providers: [served, ...providers],
      };
    },
  };
}

/** The controller of the NATS method that describes a service's model. */
function describingController(method: RpcMethod) {
  @Controller()
  class DescribeController {
    constructor(@Inject(ServedModel) private readonly served: ServedModel) {}

    @RpcHandler(method)
    describe(): ModelInfo {
      return this.served.info;
    }
  }
  return DescribeController;
}
