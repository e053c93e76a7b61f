import { RpcServer } from '#platform/messaging';
import { readEnvironment, runMain, startService } from '#platform/service-kit';
import { embeddingEnvironmentSchema } from './embedding.service.js';
import { EmbeddingModule, identity } from './embedding.module.js';

await runMain(() => {
  const environment = readEnvironment(embeddingEnvironmentSchema);
  return startService({
    identity,
    loadsModel: true,
    environment,
    port: environment.EMBEDDING_PORT,
    module: EmbeddingModule.register(environment),
    transport: RpcServer,
  });
});
