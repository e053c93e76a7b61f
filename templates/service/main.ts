import { MessagingModule, RpcServer } from '#platform/messaging';
import * as kit from '#platform/service-kit';
import { keywordFilter } from './contract.js';
import { KeywordFilterController } from './handler.js';

const service = 'keyword-filter';
const identity = { service, title: service, description: 'Keeps the documents that contain a word.' };

await kit.runMain(() => {
  const environment = kit.readEnvironment(kit.baseEnvironmentSchema);
  const messaging = { ...kit.messagingOptions(identity, environment), ...keywordFilter };
  const imports = [kit.ServiceKitModule.register(identity), MessagingModule.register(messaging)];
  const module = { module: class Keywords {}, imports, controllers: [KeywordFilterController] };
  return kit.startService({ identity, environment, port: 0, module, transport: RpcServer });
});
