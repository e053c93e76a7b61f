/**
 * Generates the secrets of docker-compose.yml, once: `node deploy/secrets.mjs <directory>`. Each service has a
 * subdirectory that only its container mounts. Existing secrets are kept. POSTGRES_PASSWORD sets the password of the
 * database at the first start. Errors: it differs later, when Postgres would still expect the password of the first start.
 */
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const directory = process.argv[2] ?? '/secrets';
const natsDirectory = join(dirname(fileURLToPath(import.meta.url)), 'nats');
const users = readFileSync(join(natsDirectory, 'users.conf'), 'utf8');
const settings = readFileSync(join(natsDirectory, 'nats.conf'), 'utf8');

// nats-server would parse a password that begins with a digit as a number.
const randomPassword = () => `p${randomBytes(24).toString('hex')}`;

/** Writes a file that every user of the container can read; only one container mounts it. */
function write(owner, name, content) {
  mkdirSync(join(directory, owner), { recursive: true });
  const file = join(directory, owner, name);
  if (existsSync(file)) chmodSync(file, 0o644);
  writeFileSync(file, content, { mode: 0o644 });
  chmodSync(file, 0o444);
}

/** Returns the content of a secret; undefined if it does not exist. */
function known(owner, name) {
  const file = join(directory, owner, name);
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

/** Returns the secret in the file; writes a new one if the file does not exist. */
function keep(owner, name, fresh = randomPassword()) {
  const value = known(owner, name);
  if (value === undefined) write(owner, name, fresh);
  return value ?? fresh;
}

const wanted = process.env.POSTGRES_PASSWORD || undefined;
if (wanted !== undefined && wanted !== (known('postgres', 'password') ?? wanted)) {
  process.stderr.write(
    'POSTGRES_PASSWORD is not the password with which the database was created. Unset it, or set the old one. ' +
      'docs/operations.md explains how to change the password.\n',
  );
  process.exit(1);
}

const names = [...users.matchAll(/^ *user: (\S+)$/gm)].map(([, name]) => name);
// `operator` is a user for people, without a container: its password is stored next to the configuration of the server.
const passwords = names.map((name) => [name, keep(name === 'operator' ? 'nats' : name, `nats-${name}`)]);
const variables = passwords.map(([name, password]) => `NATS_${name.toUpperCase()}_PASSWORD: ${password}\n`);
write('nats', 'nats.conf', variables.join('') + settings.replace('include ./users.conf\n', users));

const database = keep('postgres', 'password', wanted);
const url = `postgres://meganest:${encodeURIComponent(database)}@postgres:5432/meganest`;
for (const owner of ['gateway', 'retrieval', 'dataprep']) keep(owner, 'database-url', url);
