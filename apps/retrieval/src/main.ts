import { RpcServer } from '#platform/messaging';
import { readEnvironment, runMain, startService } from '#platform/service-kit';
import { retrievalEnvironmentSchema } from './retrieval.environment.js';
import { identity, RetrievalModule } from './retrieval.module.js';

await runMain(() => {
  const environment = readEnvironment(retrievalEnvironmentSchema);
  return startService({
    identity,
    environment,
    port: environment.RETRIEVAL_PORT,
    module: RetrievalModule.register(environment),
    transport: RpcServer,
  });
});
