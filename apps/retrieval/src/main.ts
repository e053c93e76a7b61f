import { runService } from '#platform/service-kit';
import { retrievalEnvironmentSchema } from './retrieval.environment.js';
import { identity, RetrievalModule } from './retrieval.module.js';

await runService({
  identity,
  environment: retrievalEnvironmentSchema,
  port: ({ RETRIEVAL_PORT }) => RETRIEVAL_PORT,
  module: (environment) => RetrievalModule.register(environment),
});
