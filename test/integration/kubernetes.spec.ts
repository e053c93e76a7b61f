import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as kubernetes from 'kubernetes-models';
import { parse } from 'yaml';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { baseEnvironmentSchema } from '#service-kit';
import { createTemporaryDirectory, repositoryRoot } from '#testing';
import {
  buildKustomization,
  chartTemplates,
  copyManifests,
  hasKubectl,
  kubernetesDirectory,
  parseManifests,
  renderTemplate,
  type Container,
  type Manifest,
} from '../support/kubernetes.js';

const generatedFiles = (kustomization: string) => {
  const { resources } = parse(readFileSync(kustomization, 'utf8')) as { resources: string[] };
  return resources.map((name) => readFileSync(join(kustomization, '..', name), 'utf8'));
};
const base = generatedFiles(join(kubernetesDirectory, 'base/kustomization.yaml')).flatMap(parseManifests);
const autoscalers = generatedFiles(
  join(kubernetesDirectory, 'components/autoscaling/kustomization.yaml'),
).flatMap(parseManifests);

type Model = new (manifest: Manifest) => { validate(): void };

/** The class of Kubernetes' own OpenAPI schema for a manifest. */
function modelOf({ apiVersion, kind }: Manifest): Model {
  const [group = '', version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
  const key = group.replaceAll(/\.(\w)/g, (_, letter: string) => letter.toUpperCase());
  const groups = kubernetes as unknown as Record<string, Record<string, Record<string, Model>>>;
  const models =
    group === '' ? (kubernetes as unknown as Record<string, Record<string, Model>>) : groups[key];
  const model = models?.[version ?? '']?.[kind];
  if (model === undefined) throw new Error(`Kubernetes has no ${apiVersion} ${kind}`);
  return model;
}

/** The errors that Kubernetes' schema finds, by the manifest's name. */
function problemsOf(manifests: Manifest[]): string[] {
  return manifests.flatMap((manifest) => {
    try {
      new (modelOf(manifest))(manifest).validate();
      return [];
    } catch (error) {
      return [`${manifest.kind} ${manifest.metadata.name}: ${(error as Error).message}`];
    }
  });
}

const deployments = (manifests: Manifest[]) => manifests.filter(({ kind }) => kind === 'Deployment');
const containersOf = (manifest: Manifest): Container[] => manifest.spec?.template?.spec.containers ?? [];

it('is what values.yaml says', () => {
  const script = join(repositoryRoot, 'tools/kubernetes.mjs');
  expect(() => execFileSync(process.execPath, [script, '--check'])).not.toThrow();
});

it("satisfies Kubernetes' own schema", () => {
  expect(problemsOf([...base, ...autoscalers])).toEqual([]);
  const broken = structuredClone(base.find(({ kind }) => kind === 'Deployment'))!;
  broken.spec!.replicas = 'two' as unknown as number;
  expect(problemsOf([broken])).toHaveLength(1);
});

it('runs programs that exist, each on the port that its service and its variable name', () => {
  for (const deployment of deployments(base)) {
    const { name } = deployment.metadata;
    const [container] = containersOf(deployment);
    const variables = new Map(container?.env?.map((one) => [one.name, one.value]));
    const port = container?.ports?.[0]?.containerPort;
    expect(variables.get('SERVICE')).toBe(name);
    expect(existsSync(join(repositoryRoot, `apps/${name}/src/main.ts`))).toBe(true);
    expect(variables.get(`${name.toUpperCase()}_PORT`)).toBe(String(port));
    const service = base.find(({ kind, metadata }) => kind === 'Service' && metadata.name === name);
    expect(service?.spec?.ports?.[0]).toMatchObject({ port, targetPort: 'http' });
    expect(service?.spec?.selector).toEqual(deployment.spec?.template?.metadata.labels);
  }
});

it('has a deployment for each service of docker-compose.yml', () => {
  const compose = parse(readFileSync(join(repositoryRoot, 'docker-compose.yml'), 'utf8'), {
    merge: true,
  }) as {
    services: Record<string, { build?: unknown }>;
  };
  const own = Object.entries(compose.services).filter(
    ([name, { build }]) => build !== undefined && name !== 'secrets',
  );
  const names = deployments(base).map(({ metadata }) => metadata.name);
  expect(names.toSorted()).toEqual(own.map(([name]) => name).toSorted());
});

it('gives each pod the NATS user of its service, and its own password alone', () => {
  for (const deployment of deployments(base)) {
    const { name } = deployment.metadata;
    const [container] = containersOf(deployment);
    const secrets = container?.env?.filter(
      ({ valueFrom }) => valueFrom?.secretKeyRef.name === 'meganest-nats',
    );
    expect(container?.env).toContainEqual({ name: 'NATS_USER', value: name });
    expect(secrets?.map(({ valueFrom }) => valueFrom?.secretKeyRef.key)).toEqual([
      'NATS_URL',
      `NATS_${name.toUpperCase()}_PASSWORD`,
    ]);
    expect(container?.envFrom?.map(({ secretRef }) => secretRef?.name)).not.toContain('meganest-nats');
    // The gateway asks for keys; the others are behind the network policies.
    const open = container?.env?.find((one) => one.name === 'MEGANEST_ALLOW_OPEN')?.value;
    expect([name, open]).toEqual([name, name === 'gateway' ? undefined : 'true']);
  }
  const example = readFileSync(join(kubernetesDirectory, 'overlays/small/nats.env.example'), 'utf8');
  const users = readFileSync(join(repositoryRoot, 'deploy/nats/users.conf'), 'utf8');
  const namesIn = (text: string, pattern: RegExp) =>
    new Set([...text.matchAll(pattern)].map(([, variable]) => variable));
  expect(namesIn(example, /^(NATS_\w+_PASSWORD)=/gm)).toEqual(namesIn(users, /\$(NATS_\w+_PASSWORD)/g));
});

it('gives a pod longer to end than its service takes, as docker-compose.yml does', () => {
  const settings = base.find(({ kind }) => kind === 'ConfigMap')?.data ?? {};
  const seconds = (Number(settings['SHUTDOWN_DELAY_MS']) + Number(settings['SHUTDOWN_GRACE_MS'])) / 1_000;
  const pods = deployments(base).map(({ spec }) => spec?.template?.spec.terminationGracePeriodSeconds);
  expect(Math.min(...pods.map(Number))).toBeGreaterThan(seconds);
  const compose = parse(readFileSync(join(repositoryRoot, 'docker-compose.yml'), 'utf8'), {
    merge: true,
  }) as {
    services: Record<string, { build?: unknown; stop_grace_period?: string }>;
  };
  const usual = baseEnvironmentSchema.parse({});
  const ownSeconds = (usual.SHUTDOWN_DELAY_MS + usual.SHUTDOWN_GRACE_MS) / 1_000;
  const periods = Object.values(compose.services)
    .filter(({ build }) => build !== undefined)
    .map(({ stop_grace_period: period }) => Number.parseInt(period ?? '', 10));
  expect(Math.min(...periods)).toBeGreaterThan(ownSeconds);
});

it('gives the chart the manifests of the base', () => {
  const values: unknown = parse(readFileSync(join(kubernetesDirectory, 'chart/values.yaml'), 'utf8'));
  const withAutoscaling = { ...(values as object), autoscaling: true };
  const render = (settings: unknown) =>
    [...chartTemplates().values()].flatMap((text) => {
      const rendered = renderTemplate(text, settings);
      return rendered.replaceAll(/^#.*$/gm, '').trim() === '' ? [] : parseManifests(rendered);
    });
  const byName = (manifests: Manifest[]) =>
    new Map(manifests.map((one) => [`${one.kind} ${one.metadata.name}`, one]));
  expect(byName(render(values))).toEqual(byName(base));
  expect(byName(render(withAutoscaling))).toEqual(byName([...base, ...autoscalers]));
});

it("scales on metrics that the Prometheus adapter's rules make", () => {
  const text = readFileSync(join(kubernetesDirectory, 'prometheus-adapter.yaml'), 'utf8');
  const { rules } = parse(text) as { rules: { custom: { name: { as: string } }[] } };
  const made = rules.custom.map(({ name }) => name.as);
  const read = autoscalers.flatMap(({ spec }) => spec?.metrics?.map(({ pods }) => pods.metric.name) ?? []);
  expect(made).toEqual(expect.arrayContaining([...new Set(read)]));
});

describe.skipIf(!hasKubectl())('with kubectl', () => {
  let directory: Awaited<ReturnType<typeof createTemporaryDirectory>>;
  beforeAll(async () => {
    directory = await createTemporaryDirectory();
    copyManifests(directory.path);
  });
  afterAll(() => directory?.remove());

  it.each(['small', 'production', 'gpu'])('builds the overlay %s', (overlay) => {
    const manifests = buildKustomization(join(directory.path, 'overlays', overlay));
    expect(problemsOf(manifests)).toEqual([]);
    const sources = new Set(
      manifests
        .filter(({ kind }) => kind === 'ConfigMap' || kind === 'Secret')
        .map(({ kind, metadata }) => `${kind} ${metadata.name}`),
    );
    // The secrets of the other overlays are the operator's own.
    const outside = ['meganest-nats', 'meganest-database', 'meganest-keys'].map((name) => `Secret ${name}`);
    const wanted = manifests
      .flatMap(containersOf)
      .flatMap(({ envFrom = [] }) =>
        envFrom.map(({ configMapRef, secretRef }) =>
          configMapRef ? `ConfigMap ${configMapRef.name}` : `Secret ${secretRef?.name}`,
        ),
      );
    const known = new Set(overlay === 'small' ? sources : [...sources, ...outside]);
    expect(wanted.filter((name) => !known.has(name))).toEqual([]);
  });

  it('gives the models GPUs in the overlay gpu, and nothing else', () => {
    const manifests = buildKustomization(join(directory.path, 'overlays/gpu'));
    const onGpu = deployments(manifests).filter((one) => JSON.stringify(one).includes('nvidia.com/gpu":1'));
    expect(onGpu.map(({ metadata }) => metadata.name).toSorted()).toEqual(['embedding', 'llm', 'reranking']);
  });
});
