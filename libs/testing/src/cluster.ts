import { join } from 'node:path';
import { repositoryRoot } from './cache-directory.js';
import { natsUsers, type NatsUsers } from './nats-users.js';

/** Whether the tests run on a cluster (`npm run test:cluster`): two of each service, NATS with users and TLS, a native Postgres. */
export const isCluster = process.env.MEGANEST_TEST_CLUSTER === 'true';

const fixture = (name: string) => join(repositoryRoot, 'test/fixtures/tls', name);

/** The users of each server that was started here, by its address. */
const usersOf = new Map<string, NatsUsers>();

/**
 * The configuration of a NATS server with users and TLS. Test doubles, which are no service of MegaNest, connect without credentials
 * and may do everything.
 */
export function clusterNats(): { configuration: string; users: NatsUsers } {
  const users = natsUsers(
    '    { user: double, password: double, permissions { publish: ">", subscribe: ">" } }\n',
  );
  const tls = `tls { cert_file: "${fixture('server.crt')}", key_file: "${fixture('server.key')}" }\n`;
  return { configuration: `${users.configuration}no_auth_user: double\n${tls}`, users };
}

/** Notes whose users a server has. */
export function noteUsers(url: string, users: NatsUsers): void {
  usersOf.set(url, users);
}

/** The variables with which a service is let in to a server that was started here; none for other servers. */
export function natsVariables(service: string, url: string | undefined): NodeJS.ProcessEnv {
  const users = usersOf.get(url ?? '');
  return users ? { ...users.variables(service), NATS_CA_FILE: fixture('ca.crt') } : {};
}
