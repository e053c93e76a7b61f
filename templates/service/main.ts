import { baseEnvironmentSchema, runService } from '#platform/service-kit';
import { keywordFilter } from './contract.js';
import { KeywordFilterController } from './handler.js';

const service = 'keyword-filter';

await runService({
  identity: { service, title: service, description: 'Keeps the documents that contain a word.' },
  environment: baseEnvironmentSchema,
  port: () => 0,
  module: () => ({ module: class Keywords {}, controllers: [KeywordFilterController] }),
  node: keywordFilter,
});
