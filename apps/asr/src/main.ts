import { serveLiveAudio } from '#api/audio-api';
import { RpcServer } from '#platform/messaging';
import { readEnvironment, runMain, startService } from '#platform/service-kit';
import multipart from '@fastify/multipart';
import { asrEnvironmentSchema } from './asr.service.js';
import { AsrModule, identity } from './asr.module.js';

await runMain(() => {
  const environment = readEnvironment(asrEnvironmentSchema);
  return startService({
    identity,
    loadsModel: true,
    environment,
    port: environment.ASR_PORT,
    module: AsrModule.register(environment),
    transport: RpcServer,
    configure: async (app) => {
      await app.register(multipart);
      await serveLiveAudio(app, environment);
    },
  });
});
