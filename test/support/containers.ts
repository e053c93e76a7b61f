import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { findNatsServer, services, type ServiceName } from '#platform/local-stack';
import {
  cacheDirectory,
  createTemporaryDirectory,
  natsUsers,
  repositoryRoot,
  startDatabase,
  whenClusterFormed,
  type NatsNode,
} from '#platform/testing';
import type { Instances } from './instances.js';
import { kubernetesDirectory, parseManifests, type Container, type Manifest } from './kubernetes.js';
import { makeNetwork, portOf, type Machine, type Network } from './namespaces.js';

const small = join(kubernetesDirectory, 'overlays/small');
const manifests = readdirSync(join(kubernetesDirectory, 'base'))
  .filter((name) => name !== 'kustomization.yaml')
  .flatMap((name) => parseManifests(readFileSync(join(kubernetesDirectory, 'base', name), 'utf8')));
const settings = manifests.find(({ kind }) => kind === 'ConfigMap')?.data ?? {};
/** A user of NATS with every right, for the test itself. */
const observer = { user: 'observer', pass: 'observer' };
const servers = 3;
const collectorPort = 4318;
const startTimeoutMs = 120_000;

/** The values that users of the overlay `small` write into a secret. */
function example(file: string): Record<string, string> {
  const lines = readFileSync(join(small, `${file}.env.example`), 'utf8').split('\n');
  return Object.fromEntries(
    lines
      .filter((line) => /^\w+=/.test(line))
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );
}

/** The environment that Kubernetes gives a container. */
function environmentOf(
  { env = [], envFrom = [] }: Container,
  secrets: Readonly<Record<string, Record<string, string>>>,
): Record<string, string> {
  const named = env.map(({ name, value, valueFrom }) => {
    const { name: secret = '', key = '' } = valueFrom?.secretKeyRef ?? {};
    return [name, value ?? secrets[secret]?.[key] ?? ''] as const;
  });
  const all = envFrom.flatMap(({ configMapRef, secretRef }) =>
    Object.entries(configMapRef ? settings : (secrets[secretRef?.name ?? ''] ?? {})),
  );
  return { ...Object.fromEntries([...all, ...named]), MEGANEST_DATA_DIR: '{data}', TMPDIR: '{data}' };
}

interface Probe {
  readinessProbe: { httpGet: { path: string; port: string } };
}

/** Port and path at which a container answers whether it is ready. */
function readinessOf(container: Container): { port: number; path: string } {
  const { path, port: name } = (container as Container & Probe).readinessProbe.httpGet;
  const port = container.ports?.find((one) => one.name === name)?.containerPort ?? 0;
  return { port, path };
}

/** The status of an answer, undefined where none came. fetch refuses port 6000, as browsers do. */
function statusOf(url: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    const request = get(url, { timeout: 2_000 }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(undefined));
  });
}

/** Reads the output of a program, which would otherwise wait for a reader. Returns a function that gives its end. */
function readOutput(child: ChildProcess): () => string {
  let output = '';
  const note = (text: Buffer) => (output = (output + text.toString()).slice(-4_000));
  child.stdout?.on('data', note);
  child.stderr?.on('data', note);
  return () => output;
}

/**
 * Servers of NATS in a cluster, with the users that MegaNest ships, each on a machine of its own. They have a leader when
 * this resolves. Errors: their last output.
 */
async function startNatsMachines(
  network: Network,
  directory: string,
  configuration: string,
): Promise<NatsNode[]> {
  const { path: program } = await findNatsServer({
    explicitPath: process.env.NATS_SERVER_BINARY,
    cacheDirectory,
  });
  const hosts = Array.from({ length: servers }, (_unused, index) => network.addressOf(index + 2));
  const routes = hosts.map((host) => `nats://${host}:6222`).join(', ');
  const outputs: (() => string)[] = [];
  const nodes = hosts.map((host, index) => {
    const name = `nats-${index}`;
    const machine = network.add(name, host, {});
    const file = join(directory, `${name}.conf`);
    const own = `server_name: ${name}\nhttp: "${host}:8222"\ncluster { name: meganest, listen: "${host}:6222", routes: [${routes}] }\n`;
    writeFileSync(file, `${own}${configuration}`);
    chmodSync(file, 0o644);
    const command = [program, '--config', file, '--addr', host, '--port', '4222'];
    const start = () =>
      machine.run([...command, '--jetstream', '--store_dir', '{data}/jetstream'], {}, { keepsData: true });
    let child = start();
    outputs.push(readOutput(child));
    return {
      url: `nats://${host}:4222`,
      kill: async () => {
        const ended = once(child, 'exit');
        child.kill('SIGKILL');
        await ended;
      },
      start: () => {
        child = start();
        readOutput(child);
        return Promise.resolve();
      },
      signal: (signal: NodeJS.Signals) => void child.kill(signal),
    };
  });
  try {
    await whenClusterFormed(hosts.map((host) => `http://${host}:8222`));
  } catch (error) {
    throw new Error(outputs.map((output) => output()).join('\n'), { cause: error });
  }
  return nodes;
}

/** One running container. */
interface Running {
  url: string;
  kill(): Promise<void>;
}

/** Runs a container on a machine, and waits for its readiness probe. Errors: its last output. */
async function runContainer(
  machine: Machine,
  { container, address, env }: { container: Container; address: string; env: Record<string, string> },
): Promise<Running> {
  const program = join(repositoryRoot, 'dist', `${env['SERVICE']}.js`);
  const child = machine.run([process.execPath, '--enable-source-maps', program], env);
  const output = readOutput(child);
  const { port, path } = readinessOf(container);
  const url = `http://${address}:${port}`;
  const giveUpAt = performance.now() + startTimeoutMs;
  while ((await statusOf(url + path)) !== 200) {
    if (child.exitCode !== null || performance.now() > giveUpAt)
      throw new Error(`${container.name} is not ready: ${output()}`);
    await delay(200);
  }
  return {
    url,
    kill: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/**
 * The containers of deploy/kubernetes as plain processes: two of each, three servers of NATS and a Postgres, each on a
 * machine of its own, with the names of the overlay `small`. Needs root, for namespaces.
 */
export async function startContainers(collector: number): Promise<Instances> {
  const directory = await createTemporaryDirectory();
  const network = makeNetwork(directory.path);
  const database = await startDatabase();
  const stop = async () => {
    await network.remove();
    await database.stop();
    await directory.remove();
  };
  try {
    await network.forward(5432, portOf(database.url));
    await network.forward(collectorPort, collector);
    const { user, pass } = observer;
    const users = natsUsers(
      `    { user: ${user}, password: ${pass}, permissions { publish: ">", subscribe: ">" } }\n`,
    );
    const nodes = await startNatsMachines(network, directory.path, users.configuration);
    const natsUrls = nodes.map(({ url }) => url);
    const more = {
      NATS_BUCKET_REPLICAS: String(servers),
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://${network.host}:${collectorPort}`,
      OTEL_BSP_SCHEDULE_DELAY: '200',
    };
    const running = new Map<string, Running[]>();
    const startBoth = async (name: ServiceName) => {
      const deployment = manifests.find(
        ({ kind, metadata }) => kind === 'Deployment' && metadata.name === name,
      );
      const container = containerOf(deployment);
      const secrets = {
        'meganest-nats': {
          ...example('nats'),
          [`NATS_${name.toUpperCase()}_PASSWORD`]: users.variables(name).NATS_PASSWORD,
        },
        'meganest-database': { DATABASE_URL: urlByName(database.url) },
        'meganest-keys': example('keys'),
      };
      const env = { ...environmentOf(container, secrets), ...more };
      const first = 10 + 2 * services.findIndex((service) => service.name === name);
      const instances = [0, 1].map((number) => {
        const address = network.addressOf(first + number);
        // One name for all servers of NATS, as a headless service has it; a client learns of the others.
        const nats = new URL(natsUrls[(first + number) % servers]!).hostname;
        const machine = network.add(`${name}-${number}`, address, { nats, postgres: network.host });
        return runContainer(machine, { container, address, env });
      });
      running.set(name, await Promise.all(instances));
    };
    await startInTurn(startBoth);
    return {
      nodes,
      native: database.native,
      observer: { servers: natsUrls, ...observer },
      headers: { authorization: `Bearer ${example('keys')['API_KEYS']}` },
      urlsOf: (name) => running.get(name)!.map(({ url }) => url),
      kill: async (name) => running.get(name)!.pop()?.kill(),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function containerOf(deployment: Manifest | undefined): Container {
  const [container] = deployment?.spec?.template?.spec.containers ?? [];
  if (!container) throw new Error('deploy/kubernetes/base lacks a deployment');
  return container;
}

/** The address of the database under the name and the port of the overlay. */
function urlByName(url: string): string {
  const named = new URL(url);
  named.host = new URL(example('database')['DATABASE_URL']!).host;
  // The certificate of the server has another name.
  named.search = '';
  return named.href;
}

/** Starts the services a few at a time: programs that start at once hold each other up. The gateway comes last. */
async function startInTurn(start: (name: ServiceName) => Promise<void>): Promise<void> {
  const names = services.map(({ name }) => name).filter((name) => name !== 'gateway');
  const work = async () => {
    for (let name = names.shift(); name; name = names.shift()) await start(name);
  };
  await Promise.all([work(), work()]);
  await start('gateway');
}
