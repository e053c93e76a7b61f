import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv, type AnySchemaObject } from 'ajv';
import { getDockerComposeSchemaWithoutFormats } from 'composeverter';
import { describe, expect, it } from 'vitest';
import { repositoryRoot } from '#testing';
import { MissingVariableError, readComposeFile, type ComposeService } from '../support/compose-file.js';

/** The library writes patterns between slashes; JSON Schema has none around them. */
function withPlainPatterns(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withPlainPatterns);
  if (typeof node !== 'object' || node === null) return node;
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) => [
      key,
      key === 'pattern' && typeof value === 'string'
        ? value.replace(/^\/(.*)\/$/s, '$1')
        : withPlainPatterns(value),
    ]),
  );
}

/** The Compose specification's own schema, as a library carries it. */
const schema = withPlainPatterns(getDockerComposeSchemaWithoutFormats()) as AnySchemaObject;
const validate = new Ajv({ allErrors: true, strict: false, logger: false }).compile(schema);

describe.each(['docker-compose.yml', 'deploy/compose.gpu.yml'])('%s', (path) => {
  it('is a compose file', () => {
    expect({ valid: validate(readComposeFile(path)), errors: validate.errors }).toEqual({
      valid: true,
      errors: null,
    });
  });
});

it('finds what the specification does not know', () => {
  const broken = { services: { gateway: { image: 5, portz: [8888] } } };
  expect(validate(broken)).toBe(false);
  const paths = validate.errors?.map(({ instancePath }) => instancePath);
  expect(paths).toEqual(expect.arrayContaining(['/services/gateway', '/services/gateway/image']));
});

it('lets the GPU file override services that exist', () => {
  const base = Object.keys(readComposeFile('docker-compose.yml').services);
  expect(base).toEqual(
    expect.arrayContaining(Object.keys(readComposeFile('deploy/compose.gpu.yml').services)),
  );
});

it('names only services and volumes that it declares', () => {
  const { services, volumes = {} } = readComposeFile('docker-compose.yml');
  for (const service of Object.values(services)) {
    expect(Object.keys(services)).toEqual(expect.arrayContaining(Object.keys(service.depends_on ?? {})));
    const mounted = (service.volumes ?? []).map((volume) => volume.split(':')[0] ?? '');
    const [paths, names] = [
      mounted.filter((name) => name.startsWith('.')),
      mounted.filter((name) => !name.startsWith('.')),
    ];
    expect(Object.keys(volumes)).toEqual(expect.arrayContaining(names));
    expect(paths.filter((path) => !existsSync(join(repositoryRoot, path)))).toEqual([]);
  }
});

it('publishes the gateway alone, to this machine alone', () => {
  const { services } = readComposeFile('docker-compose.yml');
  const published = Object.entries(services).filter(([, service]) => service.ports !== undefined);
  expect(published.map(([name, service]) => [name, service.ports])).toEqual([
    ['gateway', ['127.0.0.1:8888:8888']],
  ]);
});

it('opens the gateway to the network only with keys', () => {
  const read = (variables: NodeJS.ProcessEnv) =>
    readComposeFile('docker-compose.yml', variables).services.gateway;
  expect(() => read({ GATEWAY_BIND: '0.0.0.0' })).toThrow(MissingVariableError);
  expect(read({ GATEWAY_BIND: '0.0.0.0', API_KEYS: 'key' })).toMatchObject({
    ports: ['0.0.0.0:8888:8888'],
    // The gateway itself judges by it: a list of nothing is no key.
    environment: { API_KEYS: 'key', PUBLISHED_HOST: '0.0.0.0' },
  });
  expect(read({})?.environment?.PUBLISHED_HOST).toBe('127.0.0.1');
});

it('trusts no network: services listen for themselves, NATS and Postgres ask for passwords', () => {
  const { services } = readComposeFile('docker-compose.yml');
  for (const [name, { environment = {} }] of Object.entries(services)) {
    expect([name, environment.MEGANEST_ALLOW_OPEN]).toEqual([name, undefined]);
    expect([name, environment.HOST]).toEqual([name, name === 'gateway' ? '0.0.0.0' : undefined]);
    if (environment.NATS_URL === undefined) continue;
    expect(environment.NATS_USER).toBe(name);
    expect(environment.NATS_PASSWORD_FILE).toBe(`/run/secrets/nats-${name}`);
  }
  const text = readFileSync(join(repositoryRoot, 'docker-compose.yml'), 'utf8');
  expect(text).not.toMatch(/POSTGRES_PASSWORD:-\w/);
});

it('shows each container its own secrets alone', () => {
  const { secrets, ...others } = readComposeFile('docker-compose.yml').services;
  const secretsOf = ({ volumes = [] }: ComposeService) =>
    volumes.filter((volume) => volume.includes('-secrets:'));
  const names = Object.keys(others);
  for (const [name, service] of Object.entries(others))
    expect(secretsOf(service)).toEqual([`${name}-secrets:/run/secrets:ro`]);
  expect(secretsOf(secrets ?? {}).toSorted()).toEqual(
    names.map((name) => `${name}-secrets:/secrets/${name}`).toSorted(),
  );
});

it('separates the networks', () => {
  const { services, networks = {} } = readComposeFile('docker-compose.yml');
  const on = (network: string) =>
    Object.keys(services).filter((name) => services[name]?.networks?.includes(network));
  expect(on('database').toSorted()).toEqual(['dataprep', 'gateway', 'postgres', 'retrieval']);
  expect(on('outside')).not.toEqual(expect.arrayContaining(['nats']));
  expect(on('outside')).not.toEqual(expect.arrayContaining(['postgres']));
  expect([networks.messages?.internal, networks.database?.internal]).toEqual([true, true]);
  expect(Object.keys(services).filter((name) => !services[name]?.networks)).toEqual(['secrets']);
});

it('bounds and hardens every container', () => {
  const { services } = readComposeFile('docker-compose.yml');
  for (const [name, service] of Object.entries(services)) {
    expect({ name, ...service }).toMatchObject({
      name,
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      mem_limit: expect.stringMatching(/^\d+[mg]$/),
      pids_limit: 512,
    });
  }
});

it('gives a volume for models to the services that have models, each its own', () => {
  const { services } = readComposeFile('docker-compose.yml');
  const withModels = Object.entries(services).filter(([name, { volumes = [] }]) =>
    volumes.includes(`${name}-data:/data`),
  );
  expect(withModels.map(([name]) => name)).toEqual([
    'nats',
    'embedding',
    'reranking',
    'llm',
    'guardrail',
    'asr',
  ]);
  const writable = Object.values(services).flatMap(({ volumes = [] }) =>
    volumes.filter((volume) => !volume.endsWith(':ro') && !volume.includes('-secrets:')),
  );
  expect(new Set(writable).size).toBe(writable.length);
});

it('bounds the logs of every container', () => {
  const { services } = readComposeFile('docker-compose.yml');
  for (const service of Object.values(services))
    expect(service.logging).toMatchObject({ options: { 'max-size': '10m', 'max-file': '5' } });
});

it('has an example of every setting in .env.example', () => {
  const text = readFileSync(join(repositoryRoot, 'docker-compose.yml'), 'utf8');
  const used = new Set([...text.matchAll(/\$\{(\w+)/g)].map(([, name]) => name));
  const example = readFileSync(join(repositoryRoot, '.env.example'), 'utf8');
  const shown = [...example.matchAll(/^(\w+)=/gm)].map(([, name]) => name);
  expect(shown).toEqual(expect.arrayContaining([...used]));
});

it('hands on the settings that bound and seal what is stored', () => {
  const names = [
    'RESPONSES_ENCRYPTION_KEYS',
    'RESPONSES_MAX_COUNT',
    'RESPONSES_LIMIT_BYTES',
    'FILES_LIMIT_BYTES',
  ];
  const variables = Object.fromEntries([...names, 'DOCUMENTS_LIMIT_BYTES'].map((name) => [name, '12345']));
  const { services } = readComposeFile('docker-compose.yml', variables);
  for (const name of names) expect([name, services.gateway?.environment?.[name]]).toEqual([name, '12345']);
  expect(services.dataprep?.environment?.DOCUMENTS_LIMIT_BYTES).toBe('12345');
});

it('builds its image from files that exist', () => {
  const dockerfile = readFileSync(join(repositoryRoot, 'deploy/Dockerfile'), 'utf8');
  const copies = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, paths = '']) =>
    paths.split(' '),
  );
  expect(copies.length).toBeGreaterThan(5);
  expect(copies.filter((path) => !existsSync(join(repositoryRoot, path)))).toEqual([]);
  const ignored = readFileSync(join(repositoryRoot, 'deploy/Dockerfile.dockerignore'), 'utf8').split('\n');
  expect(ignored).toEqual(expect.arrayContaining(copies.map((path) => `!${path}`)));
});
