// Prints the AsyncAPI document of the services over NATS as YAML: npm run --silent asyncapi
import { stringify } from 'yaml';
import { AsyncApiController } from '../apps/gateway/src/opea/opea.module.ts';

process.stdout.write(stringify(new AsyncApiController().asyncApi(), { aliasDuplicateObjects: false }));
