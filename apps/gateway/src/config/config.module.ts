import { audioLimits, audioLimitsOf } from '#audio-api';
import { uploadLimits, uploadLimitsOf } from '#dataprep-api';
import { Global, Module, type DynamicModule } from '@nestjs/common';
import { gatewayEnvironment, type GatewayEnvironment } from './gateway.environment.js';

/** The parsed environment and the limits in it, for each module. */
@Global()
@Module({})
export class ConfigModule {
  static register(environment: GatewayEnvironment): DynamicModule {
    return {
      module: ConfigModule,
      providers: [
        { provide: gatewayEnvironment, useValue: environment },
        { provide: uploadLimits, useValue: uploadLimitsOf(environment) },
        { provide: audioLimits, useValue: audioLimitsOf(environment) },
      ],
      exports: [gatewayEnvironment, uploadLimits, audioLimits],
    };
  }
}
