import { get } from 'node:http';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  createTemporaryDirectory,
  natsUsers,
  repositoryRoot,
  startNats,
  startPostgres,
  type TestNats,
  type TestPostgres,
} from '#testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { kubernetesDirectory, parseManifests, type Container, type Manifest } from '../support/kubernetes.js';
import { canMakeNetworks, makeNetwork, portOf, type Network } from '../support/namespaces.js';

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

/** The containers of deploy/kubernetes as plain processes, each on a machine of its own, with the names of the overlay `small`. */
describe.runIf(canMakeNetworks())('the containers of Kubernetes (needs root, for namespaces)', () => {
  const manifests = readdirSync(join(kubernetesDirectory, 'base'))
    .filter((name) => name !== 'kustomization.yaml')
    .flatMap((name) => parseManifests(readFileSync(join(kubernetesDirectory, 'base', name), 'utf8')));
  const deployments = manifests.filter(({ kind }) => kind === 'Deployment');
  const settings = manifests.find(({ kind }) => kind === 'ConfigMap')?.data ?? {};
  const example = (file: string) =>
    Object.fromEntries(
      readFileSync(join(kubernetesDirectory, 'overlays/small', `${file}.env.example`), 'utf8')
        .split('\n')
        .filter((line) => /^\w+=/.test(line))
        .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
    );
  const users = natsUsers();
  const key = example('keys').API_KEYS!;
  const output = new Map<string, string>();
  let directory: Awaited<ReturnType<typeof createTemporaryDirectory>>;
  let network: Network;
  let nats: TestNats;
  let postgres: TestPostgres;
  const addresses = new Map<string, string>();

  /** The environment that Kubernetes would give a container. */
  function environmentOf(name: string, { env = [], envFrom = [] }: Container): Record<string, string> {
    const database = new URL(postgres.connectionString);
    const from = new URL(example('database').DATABASE_URL!);
    database.host = from.host;
    const secrets: Record<string, Record<string, string>> = {
      'meganest-nats': {
        ...example('nats'),
        [`NATS_${name.toUpperCase()}_PASSWORD`]: users.variables(name).NATS_PASSWORD,
      },
      'meganest-database': { DATABASE_URL: database.href },
      'meganest-keys': example('keys'),
    };
    const named = env.map(({ name: variable, value, valueFrom }) => {
      const { name: secret = '', key: entry = '' } = valueFrom?.secretKeyRef ?? {};
      return [variable, value ?? secrets[secret]?.[entry] ?? ''] as const;
    });
    const all = envFrom.flatMap(({ configMapRef, secretRef }) =>
      Object.entries(configMapRef ? settings : (secrets[secretRef?.name ?? ''] ?? {})),
    );
    return { ...Object.fromEntries([...all, ...named]), MEGANEST_DATA_DIR: '{data}', TMPDIR: '{data}' };
  }

  function start({ metadata: { name }, spec }: Manifest): void {
    const [container] = spec?.template?.spec.containers ?? [];
    const names = { nats: network.host, postgres: network.host, ...Object.fromEntries(addresses) };
    const machine = network.add(name, addresses.get(name)!, names);
    const program = join(repositoryRoot, 'dist', `${environmentOf(name, container!).SERVICE}.js`);
    const child = machine.run(
      [process.execPath, '--enable-source-maps', program],
      environmentOf(name, container!),
    );
    const note = (text: Buffer) =>
      output.set(name, ((output.get(name) ?? '') + text.toString()).slice(-4_000));
    child.stdout?.on('data', note);
    child.stderr?.on('data', note);
  }

  const readinessOf = ({ spec }: Manifest) => {
    const [container] = spec?.template?.spec.containers ?? [];
    const { path, port } = (
      container as Container & { readinessProbe: { httpGet: { path: string; port: string } } }
    ).readinessProbe.httpGet;
    const number = container?.ports?.find((one) => one.name === port)?.containerPort;
    return `:${number}${path}`;
  };

  beforeAll(async () => {
    directory = await createTemporaryDirectory();
    network = makeNetwork(directory.path);
    [nats, postgres] = await Promise.all([startNats(users.configuration), startPostgres()]);
    await network.forward(4222, portOf(nats.url));
    await network.forward(5432, portOf(postgres.connectionString));
    deployments.forEach(({ metadata }, index) => addresses.set(metadata.name, network.addressOf(index + 10)));
  });
  afterAll(async () => {
    await network?.remove();
    await nats?.stop();
    await postgres?.stop();
    await directory?.remove();
  });

  it('find NATS, Postgres and each other by name, and answer their probes', async () => {
    expect(deployments.length).toBeGreaterThan(7);
    for (const deployment of deployments) start(deployment);
    const waiting = new Set(deployments);
    await expect
      .poll(
        async () => {
          for (const deployment of waiting) {
            const { name } = deployment.metadata;
            const url = `http://${addresses.get(name)}${readinessOf(deployment)}`;
            if ((await statusOf(url)) === 200) waiting.delete(deployment);
          }
          return [...waiting].map(({ metadata }) => `${metadata.name}: ${output.get(metadata.name) ?? ''}`);
        },
        { timeout: 100_000, interval: 500 },
      )
      .toEqual([]);
  });

  it('ingest a document and answer from it', async () => {
    const url = `http://${addresses.get('gateway')}:8888`;
    const headers = { authorization: `Bearer ${key}` };
    const form = new FormData();
    form.append('files', new Blob(['The Quibblewick engine runs on fermented plum juice.']), 'engine.txt');
    const stored = await fetch(`${url}/v1/dataprep/ingest`, { method: 'POST', headers, body: form });
    expect([stored.status, stored.status === 200 ? '' : await stored.text()]).toEqual([200, '']);
    const answer = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({
        messages: [{ role: 'user', content: 'What does the Quibblewick engine run on?' }],
      }),
    });
    expect(await answer.text()).toContain('fermented plum juice');
    const health = (await (await fetch(`${url}/v1/health_check`, { headers })).json()) as {
      dependencies: { name: string; healthy: boolean }[];
    };
    expect(health.dependencies.filter(({ healthy }) => !healthy)).toEqual([]);
  });
});
