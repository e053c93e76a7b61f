import { execFile } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import { mkdirSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { version } from '#platform/service-kit';
import { DocumentsRepository, openMigratedDatabase } from '#platform/storage';
import { cleanEnvironment, createTemporaryDirectory, freePort, repositoryRoot } from '#platform/testing';
import { startNats, startPostgres, type TestNats, type TestPostgres } from '#platform/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkNode } from '../../apps/launcher/src/doctor/check-machine.js';
import { examine } from '../../apps/launcher/src/doctor/examine.js';
import type { Finding } from '../../apps/launcher/src/doctor/finding.js';

const serviceNames = [
  'GATEWAY',
  'EMBEDDING',
  'RETRIEVAL',
  'RERANKING',
  'LLM',
  'DATAPREP',
  'GUARDRAIL',
  'ASR',
];

let nats: TestNats;
let postgres: TestPostgres;
let folder: Awaited<ReturnType<typeof createTemporaryDirectory>>;
let stranger: Server;
let configured: NodeJS.ProcessEnv;

beforeAll(async () => {
  [nats, postgres, folder] = await Promise.all([startNats(), startPostgres(), createTemporaryDirectory()]);
  stranger = createServer((_request, reply) => reply.end('{}'));
  await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve));
  const ports = await Promise.all(
    serviceNames.map(async (name) => [`${name}_PORT`, String(await freePort())]),
  );
  configured = {
    ...(Object.fromEntries(ports) as NodeJS.ProcessEnv),
    NATS_URL: nats.url,
    DATABASE_URL: postgres.connectionString,
    MEGANEST_DATA_DIR: folder.path,
  };
});
afterAll(async () => {
  stranger?.close();
  await Promise.all([nats?.stop(), postgres?.stop()]);
  await folder?.remove();
});

const examineWith = (changes: NodeJS.ProcessEnv = {}) => examine({ ...configured, ...changes });
const faults = (findings: Finding[]) => findings.filter(({ level }) => level === 'fail');

describe('the doctor', () => {
  it('finds no fault in a sound configuration, and that the index is empty', async () => {
    const findings = await examineWith();
    expect(faults(findings)).toEqual([]);
    const checks = findings.map(({ check }) => check);
    for (const check of [
      'node',
      'address',
      'data',
      'nats',
      'postgres',
      'pgvector',
      'embedding',
      'llm',
      'asr',
      'ports',
    ])
      expect(checks).toContain(check);
    expect(findings.find(({ check }) => check === 'index')).toMatchObject({ level: 'warn' });
    for (const { level, fix } of findings) expect(fix === undefined).toBe(level === 'ok');
  });

  it('names a misspelled variable', async () => {
    expect(await examineWith({ MEGANEST_PROFIL: 'hub' })).toMatchObject([
      { check: 'environment', level: 'fail', message: expect.stringContaining('MEGANEST_PROFIL') as string },
    ]);
  });

  it('sees NATS that is down, and a database that is', async () => {
    const findings = await examineWith({
      NATS_URL: `nats://127.0.0.1:${await freePort()}`,
      DATABASE_URL: `postgres://nobody:secret@127.0.0.1:${await freePort()}/none`,
    });
    expect(faults(findings).map(({ check }) => check)).toEqual(['nats', 'postgres']);
    expect(JSON.stringify(findings)).not.toContain('secret');
  });

  it('sees JetStream that the server has, and that does not work', async () => {
    const other = await startNats(
      'no_auth_user: ann\naccounts { A: { users: [{ user: ann, password: secret }] } }\n',
    );
    const findings = await examineWith({ NATS_URL: other.url });
    await other.stop();
    expect(faults(findings)).toMatchObject([
      { check: 'nats', message: expect.stringMatching(/^JetStream does not work/) as string },
    ]);
  });

  it('sees a model that is missing, and one whose folder is not whole', async () => {
    const broken = join(folder.path, 'broken-model');
    mkdirSync(broken);
    writeFileSync(join(broken, 'config.json'), '{}');
    const findings = await examineWith({
      LLM_MODEL_ID: 'no-such-model',
      EMBEDDING_MODEL_ID: broken,
      ASR_MODEL_ID: broken,
      GUARDRAIL_MODEL_ID: 'no-such-classifier',
    });
    expect(faults(findings)).toMatchObject([
      { check: 'embedding', message: expect.stringContaining('lacks tokenizer.json, weights') as string },
      { check: 'llm', message: expect.stringContaining('no-such-model') as string },
      { check: 'asr', message: expect.stringContaining('lacks weights') as string },
      { check: 'guardrail', fix: expect.stringContaining('GUARDRAIL_MODEL_ID') as string },
    ]);
  });

  it('sees a remote engine that does not answer, and a model too small for the profile', async () => {
    const small = join(folder.path, 'small-model');
    mkdirSync(small);
    writeFileSync(join(small, 'config.json'), '{"hidden_size": 384, "max_position_embeddings": 64}');
    for (const name of ['tokenizer.json', 'model.safetensors']) writeFileSync(join(small, name), '{}');
    const findings = await examineWith({
      EMBEDDING_MODEL_ID: small,
      LLM_ENDPOINT: `http://127.0.0.1:${await freePort()}/v1`,
      TEI_GUARDRAIL_ENDPOINT: `http://127.0.0.1:${await freePort()}`,
    });
    expect(faults(findings).map(({ check }) => check)).toEqual(['llm', 'guardrail']);
    expect(findings).toContainEqual(
      expect.objectContaining({
        check: 'embedding',
        level: 'warn',
        message: expect.stringContaining('takes 64') as string,
      }),
    );
  });

  it('sees a port that another program has, and an open address without keys', async () => {
    const { port } = stranger.address() as AddressInfo;
    const findings = await examineWith({ LLM_PORT: String(port), HOST: '0.0.0.0' });
    expect(faults(findings)).toMatchObject([
      { check: 'address' },
      { check: 'ports', message: `llm needs port ${port}, which another program has` },
    ]);
  });

  it('knows our own services by their reports, on the port that fetch refuses too', async () => {
    // A loopback address that nothing else uses, for the ports are those of a real installation.
    const host = '127.0.0.2';
    const warning = 'The embedding model is new@1, but 2 documents have vectors of old@1.';
    const report = (title: string) =>
      JSON.stringify({
        'Service Title': `opea_service@${title}`,
        'Service Version': version,
        dependencies: [],
        warnings: [warning],
      });
    const servers = await Promise.all(
      [
        ['embedding', 6000],
        ['retriever', 7000],
      ].map(async ([title, port]) => {
        const server = createServer((_request, reply) => reply.end(report(String(title))));
        await new Promise<void>((resolve) => server.listen(Number(port), host, resolve));
        return server;
      }),
    );
    const findings = await examineWith({
      SERVICES_HOST: host,
      EMBEDDING_PORT: '6000',
      RETRIEVAL_PORT: '7000',
    });
    for (const server of servers) server.close();
    expect(findings.filter(({ check }) => check === 'ports')).toEqual([]);
    for (const check of ['embedding', 'retrieval'])
      expect(findings).toContainEqual(expect.objectContaining({ level: 'ok', check, message: 'healthy' }));
    expect(findings.filter(({ message }) => message === warning)).toMatchObject([{ level: 'warn' }]);
  });

  it('refuses an old Node', () => {
    expect(checkNode('18.20.0')).toMatchObject({ level: 'fail' });
    expect(checkNode('20.18.3')).toMatchObject({ level: 'fail' });
    expect(checkNode('22.0.0')).toMatchObject({ level: 'ok' });
  });

  const storeVector = async (embeddingModel: string, embedding: Float32Array) => {
    const database = await openMigratedDatabase({ connectionString: postgres.connectionString });
    await new DocumentsRepository(database).replaceDocument(
      { filename: 'a.txt', contentHash: embeddingModel, embeddingModel, mimeType: 'text/plain', bytes: 1 },
      [{ text: 'words', embedding }],
    );
    await database.close();
  };

  it('names the model of vectors that the served model did not make', async () => {
    const indexOf = async () => (await examineWith()).filter(({ check }) => check === 'index');
    const vector = new Float32Array(384).fill(0.05);
    await storeVector('nano-embed@0123456789ab', vector);
    expect(await indexOf()).toMatchObject([{ level: 'ok' }]);
    await storeVector('old-model@1', vector);
    expect(await indexOf()).toMatchObject([
      {
        level: 'warn',
        message: expect.stringMatching(
          /is nano-embed, but 1 documents have vectors of old-model@1/,
        ) as string,
      },
    ]);
  });

  it('sees vectors of another width than the model’s, and exits with 1', async () => {
    await storeVector('other', Float32Array.of(1, 0, 0));
    expect(faults(await examineWith())).toMatchObject([
      { check: 'index', message: expect.stringContaining('have 3 dimensions') as string },
    ]);
    const entry = join(repositoryRoot, 'dist/doctor.js');
    const ended = promisify(execFile)(process.execPath, [entry, '--json'], {
      env: { ...cleanEnvironment(), ...configured },
    });
    const failure = await ended.then(
      () => undefined,
      (error: unknown) => error as { code: number; stdout: string },
    );
    expect(failure?.stdout).toContain('"ports"');
    const alone = promisify(execFile)(process.execPath, [entry, '--json', '--without-services'], {
      env: { ...cleanEnvironment(), ...configured },
    });
    await expect(alone).rejects.toMatchObject({ stdout: expect.not.stringContaining('"ports"') as string });
    expect(failure?.code).toBe(1);
    expect(JSON.parse(failure?.stdout ?? '')).toMatchObject({ healthy: false });
  });
});
