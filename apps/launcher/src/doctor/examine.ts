import {
  describeMisspelled,
  launcherEnvironmentSchema,
  readLauncherEnvironment,
  type LauncherEnvironment,
} from '../environment.js';
import { checkIndex, checkModels } from './check-models.js';
import { checkMachine } from './check-machine.js';
import { checkDatabase, checkNats } from './check-servers.js';
import { checkServices } from './check-services.js';
import { fail, ok, reasonOf, warn, type Finding } from './finding.js';

/**
 * Checks every part of an installation, which may be running or only configured. It does not change anything. Without
 * `services` the ports of this machine are not checked, for services on other machines.
 */
export async function examine(
  variables: NodeJS.ProcessEnv,
  { services: withServices = true } = {},
): Promise<Finding[]> {
  let environment: LauncherEnvironment;
  try {
    environment = readLauncherEnvironment(variables);
  } catch (error) {
    const fix = 'docs/configuration.md lists every variable';
    return [fail('environment', reasonOf(error), fix)];
  }
  const [machine, nats, database, models, services] = await Promise.all([
    checkMachine(environment),
    checkNats(environment),
    checkDatabase(environment),
    checkModels(environment),
    withServices ? checkServices(environment) : { findings: [], running: new Set<string>() },
  ]);
  const index = await checkIndex(environment, {
    database: database.facts,
    embedding: models.embedding,
    running: services.running,
  });
  return [
    ok('environment', 'valid'),
    ...describeMisspelled(variables, Object.keys(launcherEnvironmentSchema.shape)).map((line) =>
      warn('environment', line, 'correct its name, or unset it'),
    ),
    ...machine,
    ...nats,
    ...database.findings,
    ...models.findings,
    ...services.findings,
    ...index,
  ];
}
