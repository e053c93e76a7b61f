import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import * as kubernetes from 'kubernetes-models';
import { parse } from 'yaml';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { baseEnvironmentSchema } from '#platform/service-kit';
import { createTemporaryDirectory, repositoryRoot } from '#platform/testing';
import {
  buildKustomization,
  chartTemplates,
  copyManifests,
  hasHelm,
  hasKubectl,
  kubernetesDirectory,
  parseManifests,
  renderChart,
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
    services: Record<string, { image?: string; restart?: string }>;
  };
  const own = Object.entries(compose.services).filter(
    ([, { image, restart }]) => image?.startsWith('meganest:') && restart === 'unless-stopped',
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
  // The objects of the base have no release, and the names of its services have no prefix.
  const plain = (one: Manifest): Manifest => {
    const text = JSON.stringify(one)
      .replaceAll(',"app.kubernetes.io/instance":"meganest"', '')
      .replaceAll(',"checksum/settings":"checksum"', '');
    return JSON.parse(text) as Manifest;
  };
  const ofService = new Set(['Deployment', 'Service', 'PodDisruptionBudget', 'HorizontalPodAutoscaler']);
  const withPrefix = (one: Manifest): Manifest => {
    if (!ofService.has(one.kind)) return one;
    const { name } = one.metadata;
    const text = JSON.stringify({ ...one, metadata: { ...one.metadata, name: `meganest-${name}` } });
    return JSON.parse(text.replace('"kind":"Deployment","name":"', '$&meganest-')) as Manifest;
  };
  const byName = (manifests: Manifest[]) =>
    new Map(manifests.map((one) => [`${one.kind} ${one.metadata.name}`, one]));
  const compare = (settings: unknown, expected: Manifest[]) =>
    expect(byName(render(settings).map(plain))).toEqual(byName(expected.map(withPrefix)));
  compare(values, base);
  compare(withAutoscaling, [...base, ...autoscalers]);
});

it('refuses values that the chart does not have, and knows those that it has', () => {
  const schema = JSON.parse(
    readFileSync(join(kubernetesDirectory, 'chart/values.schema.json'), 'utf8'),
  ) as object;
  const values = parse(readFileSync(join(kubernetesDirectory, 'chart/values.yaml'), 'utf8')) as object;
  const isValid = new Ajv({ strict: false }).compile(schema);
  expect([isValid(values), isValid.errors]).toEqual([true, null]);
  const settings = { LLM_ENDPOINT: 'http://vllm:8000/v1', API_KEYS: 'a-key-of-sixteen-characters' };
  expect(isValid({ settings, services: { llm: { env: { LLM_MODEL_ID: 'a/b' } } } })).toBe(true);
  for (const unknown of [
    { setings: {} },
    { settings: { LLM_ENDPIONT: 'http://vllm:8000/v1' } },
    // The manifests set it.
    { settings: { NATS_URL: 'nats://other:4222' } },
    { services: { llm: { replica: 2 } } },
    { services: { reader: {} } },
    // It would be readable in the pod's manifest.
    { services: { llm: { env: { LLM_API_KEY: 'secret' } } } },
    { image: { name: 'x' } },
    { ingress: { enable: true } },
    { imagePullSecrets: ['regcred'] },
  ])
    expect([unknown, isValid(unknown)]).toEqual([unknown, false]);
});

it("scales on metrics that the Prometheus adapter's rules make", () => {
  const text = readFileSync(join(kubernetesDirectory, 'prometheus-adapter.yaml'), 'utf8');
  const { rules } = parse(text) as { rules: { custom: { name: { as: string } }[] } };
  const made = rules.custom.map(({ name }) => name.as);
  const read = autoscalers.flatMap(({ spec }) => spec?.metrics?.map(({ pods }) => pods.metric.name) ?? []);
  expect(made).toEqual(expect.arrayContaining([...new Set(read)]));
});

describe.skipIf(!hasHelm())('with helm', () => {
  const find = (manifests: Manifest[], kind: string, name: string) =>
    manifests.find((one) => one.kind === kind && one.metadata.name === name);
  const containerOf = (manifests: Manifest[], name: string) =>
    containersOf(find(manifests, 'Deployment', name)!)[0];

  it("satisfies Kubernetes' own schema with every option", () => {
    const everything = renderChart(
      'mn',
      'autoscaling=true',
      'settings.LLM_ENDPOINT=http://vllm.models:8000/v1',
      'settings.LLM_API_KEY=secret',
      'settings.API_KEYS=a-key-of-sixteen-characters',
      'settings.DATABASE_URL=postgres://user:password@host:5432/meganest',
      'imagePullSecrets[0].name=regcred',
      'ingress.enabled=true',
      'ingress.className=nginx',
      'ingress.hosts[0]=ai.example.org',
      'ingress.tls[0].secretName=tls',
      'networkPolicies.egress[0].ports[0].port=9999',
    );
    expect(problemsOf(everything)).toEqual([]);
    expect(everything).toHaveLength(49);
  });

  it('names its objects by the release', () => {
    const names = (release: string) =>
      new Set(renderChart(release).map(({ kind, metadata }) => `${kind} ${metadata.name}`));
    expect(names('mn').has('Deployment mn-meganest-gateway')).toBe(true);
    expect(names('meganest').has('Deployment meganest-gateway')).toBe(true);
    const two = names('two');
    expect([...names('one')].filter((name) => two.has(name))).toEqual([]);
  });

  it('gives settings to the pods, and secret ones as secrets', () => {
    const manifests = renderChart(
      'mn',
      'settings.LLM_ENDPOINT=http://vllm:8000/v1',
      'settings.UPLOAD_LIMIT_BYTES=20000000',
      'settings.API_KEYS=a-key-of-sixteen-characters',
      'settings.LLM_API_KEY=for-the-engine',
      'services.llm.env.LLM_MODEL_ID=a/b',
    );
    const settings = find(manifests, 'ConfigMap', 'mn-meganest-settings')?.data;
    expect(settings).toMatchObject({ LLM_ENDPOINT: 'http://vllm:8000/v1', UPLOAD_LIMIT_BYTES: '20000000' });
    expect(settings).not.toHaveProperty('API_KEYS');
    expect(settings).not.toHaveProperty('LLM_API_KEY');
    const secretsOf = (name: string) =>
      containerOf(manifests, name)?.envFrom?.flatMap(({ secretRef }) => secretRef?.name ?? []);
    expect(secretsOf('mn-meganest-gateway')).toEqual([
      'mn-meganest-secrets',
      'meganest-database',
      'mn-meganest-api-keys',
    ]);
    expect(secretsOf('mn-meganest-llm')).toEqual(['mn-meganest-secrets']);
    expect(find(manifests, 'Secret', 'mn-meganest-secrets')).toMatchObject({
      stringData: { LLM_API_KEY: 'for-the-engine' },
    });
    expect(containerOf(manifests, 'mn-meganest-llm')?.env).toContainEqual({
      name: 'LLM_MODEL_ID',
      value: 'a/b',
    });
    const policy = find(manifests, 'NetworkPolicy', 'mn-meganest-engine-of-llm');
    expect(policy?.spec).toMatchObject({ egress: [{ ports: [{ port: 8000 }] }] });
  });

  it('makes an ingress and uses pull secrets', () => {
    const manifests = renderChart(
      'mn',
      'ingress.enabled=true',
      'ingress.hosts[0].host=ai.example.org',
      'imagePullSecrets[0].name=regcred',
    );
    expect(find(manifests, 'Ingress', 'mn-meganest-gateway')?.spec).toMatchObject({
      rules: [
        {
          host: 'ai.example.org',
          http: { paths: [{ path: '/', backend: { service: { name: 'mn-meganest-gateway' } } }] },
        },
      ],
    });
    const pods = manifests.flatMap(({ spec }) => spec?.template?.spec ?? []);
    expect(pods.length).toBe(10);
    for (const pod of pods) expect(pod).toMatchObject({ imagePullSecrets: [{ name: 'regcred' }] });
  });

  it.each(['services.tts.enabled=false', 'services.tts=null'])('leaves a service out: %s', (setting) => {
    const text = JSON.stringify(
      renderChart('mn', setting, 'autoscaling=true').filter(({ kind }) => kind !== 'NetworkPolicy'),
    );
    expect(text).not.toContain('mn-meganest-tts');
    expect(text).toContain('mn-meganest-asr');
  });

  it.each(['settings.LLM_ENDPIONT=x', 'services.llm.replica=2', 'ingres.enabled=true'])(
    'refuses %s',
    (setting) => {
      expect(() => renderChart('mn', setting)).toThrow(/additional propert/i);
    },
  );
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
