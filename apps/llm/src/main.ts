import { RpcServer } from '#platform/messaging';
import { readEnvironment, runMain, startService } from '#platform/service-kit';
import { llmEnvironmentSchema } from './llm.environment.js';
import { identity, LlmModule } from './llm.module.js';

await runMain(() => {
  const environment = readEnvironment(llmEnvironmentSchema);
  return startService({
    identity,
    loadsModel: true,
    environment,
    port: environment.LLM_PORT,
    module: LlmModule.register(environment),
    transport: RpcServer,
  });
});
