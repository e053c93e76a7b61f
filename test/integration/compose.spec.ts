import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv, type AnySchemaObject } from 'ajv';
import { getDockerComposeSchemaWithoutFormats } from 'composeverter';
import { describe, expect, it } from 'vitest';
import { repositoryRoot } from '#platform/testing';
import {
  interpolate,
  MissingVariableError,
  readComposeFile,
  type ComposeService,
} from '../support/compose-file.js';
import { copiedPaths } from '../support/image-directory.js';

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

const overrides = ['deploy/compose.gpu.yml', 'deploy/compose.proxy.yml'];

describe.each(['docker-compose.yml', ...overrides])('%s', (path) => {
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

it('is interpolated as Compose does it: an error in a word counts, used or not', () => {
  const nested = '${A:-${B:+${A:?set A}}}';
  expect(() => interpolate(nested, {})).toThrow(MissingVariableError);
  expect(interpolate(nested, { A: 'a' })).toBe('a');
  expect(interpolate('${A:-x}${B:+y}', { B: 'b' })).toBe('xy');
});

it('loads without a variable, and with the unchanged example', () => {
  const example = readFileSync(join(repositoryRoot, '.env.example'), 'utf8');
  const variables = Object.fromEntries(
    [...example.matchAll(/^(\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]),
  );
  for (const path of ['docker-compose.yml', ...overrides])
    for (const settings of [{}, variables])
      expect(Object.keys(readComposeFile(path, settings).services).length).toBeGreaterThan(0);
});

it('leaves the refusal of an open gateway without keys to the gateway, which knows the published address', () => {
  const read = (variables: NodeJS.ProcessEnv) =>
    readComposeFile('docker-compose.yml', variables).services.gateway;
  expect(read({ GATEWAY_BIND: '0.0.0.0' })?.environment).toMatchObject({
    API_KEYS: '',
    PUBLISHED_HOST: '0.0.0.0',
  });
  expect(read({ GATEWAY_BIND: '0.0.0.0', API_KEYS: 'key' })).toMatchObject({
    ports: ['0.0.0.0:8888:8888'],
    environment: { API_KEYS: 'key', PUBLISHED_HOST: '0.0.0.0' },
  });
  expect(read({})?.environment?.PUBLISHED_HOST).toBe('127.0.0.1');
});

it('builds the image once', () => {
  const { services } = readComposeFile('docker-compose.yml');
  const own = Object.entries(services).filter(([, { image }]) => image === 'meganest:local');
  expect(own.filter(([, { build }]) => build !== undefined).map(([name]) => name)).toEqual(['secrets']);
  // A policy other than `never` would look for the image in a registry.
  for (const [name, { pull_policy }] of own)
    expect([name, pull_policy]).toEqual([name, name === 'secrets' ? undefined : 'never']);
  const gpu = Object.entries(readComposeFile('deploy/compose.gpu.yml').services);
  expect(gpu.filter(([, { build }]) => build !== undefined).map(([name]) => name)).toEqual(['llm']);
});

it('runs every container as a user, except the one that writes the secrets', () => {
  const { services } = readComposeFile('docker-compose.yml');
  const users = Object.fromEntries(Object.entries(services).map(([name, { user }]) => [name, user]));
  expect(users).toMatchObject({ secrets: '0:0', nats: '1000:1000', postgres: '999:999' });
  // The image's user is node.
  expect(Object.values(users).filter((user) => user !== undefined)).toHaveLength(3);
  for (const { tmpfs = [] } of Object.values(services))
    for (const mount of tmpfs.filter((path) => path.startsWith('/data')))
      expect(mount).toBe('/data:uid=1000,gid=1000,mode=0700');
});

it('publishes a proxy in place of several gateways, and shows it nothing else', () => {
  const { services, networks = {} } = readComposeFile('deploy/compose.proxy.yml');
  expect(services.gateway).toEqual({ ports: [], networks: { front: { aliases: ['gateways'] } } });
  expect(services.proxy).toMatchObject({
    ports: ['127.0.0.1:8888:8888'],
    networks: ['front', 'outside'],
    read_only: true,
    cap_drop: ['ALL'],
    security_opt: ['no-new-privileges:true'],
    user: '99:99',
  });
  expect(networks.front?.internal).toBe(true);
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

it('gives a volume to the services that store models or what they ingested, each its own', () => {
  const { services } = readComposeFile('docker-compose.yml');
  const withVolumes = Object.entries(services).filter(([name, { volumes = [] }]) =>
    volumes.includes(`${name}-data:/data`),
  );
  expect(withVolumes.map(([name]) => name)).toEqual([
    'nats',
    'embedding',
    'reranking',
    'llm',
    'dataprep',
    'guardrail',
    'asr',
  ]);
  const { secrets: _secrets, ...others } = services;
  const writable = Object.values(others).flatMap(({ volumes = [] }) =>
    volumes.filter((volume) => !volume.endsWith(':ro') && !volume.includes('-secrets:')),
  );
  expect(new Set(writable).size).toBe(writable.length);
});

it('bounds the logs of every container', () => {
  const { services } = readComposeFile('docker-compose.yml');
  for (const service of Object.values(services))
    expect(service.logging).toMatchObject({ options: { 'max-size': '10m', 'max-file': '5' } });
});

/** The variables of .env.example, with the comment above each. */
function exampleVariables(): { name: string; comment: string }[] {
  const text = readFileSync(join(repositoryRoot, '.env.example'), 'utf8');
  const blocks = [...text.matchAll(/((?:^#.*\n)+)((?:^\w+=.*\n)+)/gm)];
  return blocks.flatMap(([, comment = '', variables = '']) =>
    [...variables.matchAll(/^(\w+)=/gm)].map(([, name = '']) => ({ name, comment })),
  );
}

it('has an example of every setting in .env.example, and passes every setting that is not for npm start', () => {
  const text = readFileSync(join(repositoryRoot, 'docker-compose.yml'), 'utf8');
  const used = new Set([...text.matchAll(/\$\{(\w+)/g)].map(([, name]) => name));
  const shown = exampleVariables();
  expect(shown.map(({ name }) => name)).toEqual(expect.arrayContaining([...used]));
  const limits = shown.findIndex(({ comment }) => comment.includes('--- Limits and times'));
  expect(shown[limits]?.comment).toContain('npm start only');
  const silent = shown
    .slice(0, limits)
    .filter(({ name, comment }) => !used.has(name) && !comment.includes('npm start'));
  expect(silent.map(({ name }) => name)).toEqual([]);
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
  const missing = copies.filter((path) => !existsSync(join(repositoryRoot, path.replace('/*.md', ''))));
  expect(missing).toEqual([]);
  const ignored = readFileSync(join(repositoryRoot, 'deploy/Dockerfile.dockerignore'), 'utf8').split('\n');
  expect(ignored).toEqual(expect.arrayContaining(copies.map((path) => `!${path}`)));
  // Every program that a command of the Dockerfile starts, directly or through a script of package.json.
  const { scripts } = JSON.parse(readFileSync(join(repositoryRoot, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  const commands = [...dockerfile.matchAll(/npm run (\S+)/g)].map(([, name = '']) => scripts[name]);
  const started = [dockerfile, ...commands].join('\n').match(/\btools\/\S+\.mjs/g);
  expect(copies).toEqual(expect.arrayContaining([...new Set(started)]));
});

it('has the sample documents in its image', () => {
  expect(copiedPaths()).toContain('docs/*.md');
});
