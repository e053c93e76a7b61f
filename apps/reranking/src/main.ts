import { RpcServer } from '#platform/messaging';
import { readEnvironment, runMain, startService } from '#platform/service-kit';
import { rerankingEnvironmentSchema } from './reranking.service.js';
import { identity, RerankingModule } from './reranking.module.js';

await runMain(() => {
  const environment = readEnvironment(rerankingEnvironmentSchema);
  return startService({
    identity,
    loadsModel: true,
    environment,
    port: environment.RERANKING_PORT,
    module: RerankingModule.register(environment),
    transport: RpcServer,
  });
});
