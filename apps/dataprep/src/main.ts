import { acceptUrlencodedIngests } from '#api/dataprep-api';
import { runService } from '#platform/service-kit';
import multipart from '@fastify/multipart';
import { dataprepEnvironmentSchema } from './dataprep.environment.js';
import { DataprepModule, identity } from './dataprep.module.js';

await runService({
  identity,
  environment: dataprepEnvironmentSchema,
  port: ({ DATAPREP_PORT }) => DATAPREP_PORT,
  module: (environment) => DataprepModule.register(environment),
  configure: async (app) => {
    await app.register(multipart);
    acceptUrlencodedIngests(app);
  },
});
