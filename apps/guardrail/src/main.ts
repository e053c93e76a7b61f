import { RpcServer } from '#platform/messaging';
import { readEnvironment, runMain, startService } from '#platform/service-kit';
import { guardrailEnvironmentSchema } from './guardrail.service.js';
import { GuardrailModule, identity } from './guardrail.module.js';

await runMain(() => {
  const environment = readEnvironment(guardrailEnvironmentSchema);
  return startService({
    identity,
    loadsModel: true,
    environment,
    port: environment.GUARDRAIL_PORT,
    module: GuardrailModule.register(environment),
    transport: RpcServer,
  });
});
