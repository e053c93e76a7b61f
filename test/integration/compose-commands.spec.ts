import { execFile } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  findNatsServer,
  freePort,
  superviseProcess,
  waitForHttp,
  type SupervisedProcess,
  type SupervisionOptions,
} from '#platform/local-stack';
import {
  cacheDirectory,
  cleanEnvironment,
  createTemporaryDirectory,
  startPostgres,
  type TestPostgres,
} from '#platform/testing';
import { readComposeFile, type ComposeService } from '../support/compose-file.js';
import { fillImageDirectory } from '../support/image-directory.js';

/** Every container as a plain process: its own command, environment and files, with names and ports of this machine. */
const { services } = readComposeFile('docker-compose.yml');
const own = Object.entries(services).filter(([name]) => !['secrets', 'nats', 'postgres'].includes(name));
const run = promisify(execFile);

let directory: { path: string; remove(): Promise<void> };
let postgres: TestPostgres;
/** What stands in for an address or a path of the containers' network. */
const replacements = new Map<string, string>();
const started: SupervisedProcess[] = [];
const natsLines: string[] = [];

/** Stands in for /app of the image. */
function image(): string {
  return join(directory.path, 'app');
}

/** The port that a service listens on inside its container. */
function containerPort(name: string, service: ComposeService): number {
  return Number(service.environment?.[`${name.toUpperCase()}_PORT`]);
}

function translate(text: string): string {
  return [...replacements].reduce((result, [from, to]) => result.replaceAll(from, to), text);
}

/** Where the volume with the secrets of a container lies here. */
function secretsOf(name: string): string {
  return join(directory.path, 'secrets', name);
}

function environmentOf(name: string, service: ComposeService): NodeJS.ProcessEnv {
  const entries = Object.entries(service.environment ?? {}).map(([key, value]) => [
    key,
    String(value).startsWith('/run/secrets/')
      ? String(value).replace('/run/secrets', secretsOf(name))
      : translate(String(value)),
  ]);
  const port = replacements.get(`:${containerPort(name, service)}/`)?.slice(1, -1);
  return { ...cleanEnvironment(), ...Object.fromEntries(entries), [`${name.toUpperCase()}_PORT`]: port };
}

function start(
  options: Pick<
    SupervisionOptions,
    'name' | 'command' | 'args' | 'env' | 'lifeline' | 'readiness' | 'onLine'
  >,
) {
  const supervised = superviseProcess({ ...options, cwd: image(), restart: false });
  started.push(supervised);
  return supervised;
}

/** The address that a health check asks, on this machine. */
function healthUrl(service: ComposeService): string {
  return translate(service.healthcheck?.test.at(-1) ?? '');
}

/** Runs the container that makes the secrets, and puts the addresses of this machine into what it wrote. */
async function makeSecrets(natsPort: number, monitorPort: number): Promise<void> {
  const [, ...args] = services.secrets?.command ?? [];
  const make = () =>
    run(
      process.execPath,
      args.map((word) => (word === '/secrets' ? secretsOf('') : word)),
      { cwd: image() },
    );
  await make();
  const rewrite = (file: string, change: (text: string) => string) => {
    const text = readFileSync(file, 'utf8');
    rmSync(file);
    writeFileSync(file, change(text));
  };
  const password = readFileSync(join(secretsOf('nats'), 'nats-operator'), 'utf8');
  // A second start keeps what is there.
  await make();
  expect(readFileSync(join(secretsOf('nats'), 'nats-operator'), 'utf8')).toBe(password);
  rewrite(
    join(secretsOf('nats'), 'nats.conf'),
    (text) =>
      `port: ${natsPort}\n${text.replace('/data', join(directory.path, 'nats')).replace('8222', String(monitorPort))}`,
  );
  const databasePassword = readFileSync(join(secretsOf('postgres'), 'password'), 'utf8');
  for (const name of ['gateway', 'retrieval', 'dataprep'])
    rewrite(join(secretsOf(name), 'database-url'), (text) => {
      expect(text).toBe(`postgres://meganest:${databasePassword}@postgres:5432/meganest`);
      return postgres.connectionString;
    });
}

async function startNatsContainer(): Promise<void> {
  const { path } = await findNatsServer({ cacheDirectory });
  const [port, monitorPort] = [await freePort(), await freePort()];
  replacements.set('nats:4222', `127.0.0.1:${port}`).set(':8222/', `:${monitorPort}/`);
  await makeSecrets(port, monitorPort);
  const command = (services.nats?.command ?? []).map((word) =>
    word.replace('/run/secrets', secretsOf('nats')),
  );
  const nats = start({
    name: 'nats',
    command: path,
    args: () => command,
    lifeline: 'watcher',
    readiness: (child) => waitForHttp(healthUrl(services.nats ?? {}), child.signal),
    onLine: ({ text }) => natsLines.push(text),
  });
  await nats.whenReady();
}

function startServiceContainer([name, service]: [string, ComposeService]): Promise<void> {
  const [command = '', ...args] = service.command ?? [];
  const container = start({
    name,
    command: command === 'node' ? process.execPath : command,
    args: () => args,
    env: environmentOf(name, service),
    lifeline: 'watcher',
    readiness: (child) => waitForHttp(healthUrl(service), child.signal),
  });
  return container.whenReady();
}

beforeAll(async () => {
  directory = await createTemporaryDirectory();
  postgres = await startPostgres();
  await fillImageDirectory(image());
  replacements.set('/data', join(directory.path, 'data'));
  for (const [name, service] of own) {
    replacements.set(`:${containerPort(name, service)}/`, `:${await freePort()}/`);
  }
  await startNatsContainer();
});

afterAll(async () => {
  await Promise.all(started.slice(1).map((process) => process.stop()));
  await started[0]?.stop();
  await postgres?.stop();
  await directory?.remove();
});

it('starts every service with its own command and environment, healthy by its own check', async () => {
  await Promise.all(own.map(startServiceContainer));
  for (const [, service] of own) {
    const [, command = '', ...args] = service.healthcheck?.test ?? [];
    const check = () => run(command, args.map(translate), { cwd: image() });
    // As often as the container's own check may fail before it counts.
    await expect.poll(check).toBeDefined();
  }
  expect(natsLines.filter((line) => /violation|not authorized/i.test(line))).toEqual([]);
});

it('publishes the port that the gateway listens on', () => {
  const gateway = services.gateway ?? {};
  expect(gateway.ports?.[0]?.split(':').at(-1)).toBe(String(containerPort('gateway', gateway)));
});

it("checks Postgres's health with the user and database that it creates and the services use", () => {
  const { environment = {}, healthcheck } = services.postgres ?? {};
  expect(healthcheck?.test).toContain(`--username=${environment.POSTGRES_USER}`);
  expect(healthcheck?.test).toContain(`--dbname=${environment.POSTGRES_DB}`);
  expect(environment.POSTGRES_PASSWORD_FILE).toBe('/run/secrets/password');
  expect([environment.POSTGRES_USER, environment.POSTGRES_DB]).toEqual(['meganest', 'meganest']);
});
