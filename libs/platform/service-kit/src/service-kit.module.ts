import { Global, Module, type DynamicModule } from '@nestjs/common';
import { DiscoveryModule, DiscoveryService } from '@nestjs/core';
import { Drain } from './drain.js';
import { Admission } from './http/admission.js';
import { HealthController } from './health/health.controller.js';
import { HealthRegistry } from './health/health.registry.js';
import { MetricsController } from './metrics/metrics.controller.js';
import { Metrics } from './metrics/metrics.js';
import { ApiDocument } from './openapi/build-document.js';
import { OpenApiController } from './openapi/openapi.controller.js';
import { serviceIdentity, type ServiceIdentity } from './service-identity.js';

/** Health, metrics, statistics and the OpenAPI document of a service. */
@Global()
@Module({})
export class ServiceKitModule {
  static register(identity: ServiceIdentity): DynamicModule {
    return {
      module: ServiceKitModule,
      imports: [DiscoveryModule],
      controllers: [HealthController, MetricsController, OpenApiController],
      providers: [
        { provide: serviceIdentity, useValue: identity },
        Drain,
        Admission,
        {
          provide: HealthRegistry,
          inject: [Drain],
          useFactory: (drain: Drain) => new HealthRegistry(identity, () => drain.begun),
        },
        { provide: Metrics, useFactory: () => new Metrics(identity.service) },
        {
          provide: ApiDocument,
          inject: [DiscoveryService],
          useFactory: (discovery: DiscoveryService) => new ApiDocument(discovery, identity),
        },
      ],
      exports: [serviceIdentity, Drain, Admission, HealthRegistry, Metrics, ApiDocument],
    };
  }
}
