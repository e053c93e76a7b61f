import { acceptUrlencodedIngests } from '#api/dataprep-api';
import { RpcServer } from '#platform/messaging';
import { readEnvironment, runMain, startService } from '#platform/service-kit';
import multipart from '@fastify/multipart';
import { dataprepEnvironmentSchema } from './dataprep.environment.js';
import { DataprepModule, identity } from './dataprep.module.js';

await runMain(() => {
  const environment = readEnvironment(dataprepEnvironmentSchema);
  return startService({
    identity,
    environment,
    port: environment.DATAPREP_PORT,
    module: DataprepModule.register(environment),
    transport: RpcServer,
    configure: async (app) => {
      await app.register(multipart);
      acceptUrlencodedIngests(app);
    },
  });
});
