import { runService } from '#platform/service-kit';
import { guardrailEnvironmentSchema } from './guardrail.environment.js';
import { GuardrailModule } from './guardrail.module.js';

await runService({
  identity: {
    service: 'guardrail',
    title: 'opea_service@guardrail',
    description:
      'Judges questions of users and answers of models by the rules of a file and by a classifier model.',
  },
  environment: guardrailEnvironmentSchema,
  port: ({ GUARDRAIL_PORT }) => GUARDRAIL_PORT,
  loadsModel: true,
  module: (environment) => GuardrailModule.register(environment),
});
