import { Global, Module, type DynamicModule } from '@nestjs/common';
import { HealthController } from './health/health.controller.js';
import { HealthRegistry } from './health/health.registry.js';
import { MetricsController } from './metrics/metrics.controller.js';
import { Metrics } from './metrics/metrics.js';
import { serviceIdentity, type ServiceIdentity } from './service-identity.js';

/** Health, metrics and statistics of a service. */
@Global()
@Module({})
export class ServiceKitModule {
  static register(identity: ServiceIdentity): DynamicModule {
    return {
      module: ServiceKitModule,
      controllers: [HealthController, MetricsController],
      providers: [
        { provide: serviceIdentity, useValue: identity },
        { provide: HealthRegistry, useFactory: () => new HealthRegistry(identity) },
        { provide: Metrics, useFactory: () => new Metrics(identity.service) },
      ],
      exports: [serviceIdentity, HealthRegistry, Metrics],
    };
  }
}
