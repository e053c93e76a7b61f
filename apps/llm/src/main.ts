import { runService } from '#platform/service-kit';
import { llmEnvironmentSchema } from './llm.environment.js';
import { identity, LlmModule } from './llm.module.js';

await runService({
  identity,
  environment: llmEnvironmentSchema,
  port: ({ LLM_PORT }) => LLM_PORT,
  loadsModel: true,
  module: (environment) => LlmModule.register(environment),
});
