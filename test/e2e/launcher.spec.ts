import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isRunning } from '#platform/local-stack';
import { allServices, createTemporaryDirectory } from '#platform/testing';
import { LauncherProcess, throughNpm } from '../support/launcher-process.js';

let directory: { path: string; remove(): Promise<void> };
let launcher: LauncherProcess;

async function listDocuments(): Promise<string> {
  const response = await fetch(`${launcher.urlOf('dataprep')}/v1/dataprep/get`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  });
  expect(response.status).toBe(200);
  return response.text();
}

/** Sends the request that the launcher printed; the answer's text. Errors: the status, when it is not 200. */
async function askSampleQuestion(): Promise<string> {
  const [, body = ''] = /-d '(.+)'$/.exec(await launcher.line(/^ {2}curl /)) ?? [];
  return askWith(body);
}

async function askWith(body: string): Promise<string> {
  const response = await fetch(`${launcher.urlOf('gateway')}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
  const completion = (await response.json()) as { choices: { message: { content: string } }[] };
  return completion.choices[0]?.message.content ?? '';
}

beforeAll(async () => {
  directory = await createTemporaryDirectory();
  launcher = new LauncherProcess(directory.path);
  await launcher.ready();
});

afterAll(async () => {
  await launcher.stop();
  await directory.remove();
});

describe.sequential('npm start', () => {
  it('starts everything and says where it is', async () => {
    for (const name of allServices) expect((await fetch(`${launcher.urlOf(name)}/ready`)).status).toBe(200);
    expect((await fetch(`${launcher.urlOf('gateway')}/v1/health_check`)).status).toBe(200);
    expect(launcher.urlOf('nats')).toMatch(/^nats:/);
    for (const path of ['logs/gateway.log', 'processes.json', 'nats', 'postgres'])
      expect(statSync(join(directory.path, path)).mode & 0o077).toBe(0);
  });

  it('prints a request to paste, which is answered from the sample documents', async () => {
    expect(await askSampleQuestion()).toMatch(/^When a service dies[^]*restarts it[^]*\[1\]$/);
  });

  it.each([
    ['How can I back up MegaNest?', 'npm run backup'],
    ['How do instances of one service share work?', 'queue group'],
    ['Which formats can be read?', 'docx'],
    ['How do I add a document?', 'npm run ingest'],
    ['Do I need a GPU?', 'does not need a GPU'],
    ['What license does MegaNest have?', 'Apache-2.0'],
    ['Is there a user interface?', 'npm start serves a page'],
  ])('answers a newcomer from the sample documents, without a preface: %s', async (question, expected) => {
    const answer = await askWith(JSON.stringify({ messages: question }));
    expect(answer).toContain(expected);
    expect(answer).not.toMatch(/^Closest|could not find/);
  });

  it('ingests the sample documents on its first start', async () => {
    const lines = launcher.lines.map((line) => /^(?:ingested +api\.md|gateway +ready)/.exec(line)?.[0] ?? '');
    const [ingested, gateway] = lines.filter((line) => line !== '');
    expect(ingested).toMatch(/^ingested/);
    // A client that waits for the gateway finds them read.
    expect(gateway).toMatch(/^gateway/);
    expect(await listDocuments()).toContain('operations.md');
  });

  it('restarts a service that dies, and says so', async () => {
    const victim = launcher.children().find(({ name }) => name === 'reranking');
    if (!victim) throw new Error('reranking is not registered');
    const seen = launcher.lines.length;
    process.kill(victim.pid, 'SIGKILL');
    await launcher.line(/^reranking +died \(SIGKILL\), restarting in 0\.3 s/, seen);
    await launcher.line(/^reranking +ready/, seen);
    expect((await fetch(`${launcher.urlOf('reranking')}/ready`)).status).toBe(200);
    expect(isRunning(victim)).toBe(false);
  });

  it.each(['llm', 'nats'])('notices within seconds that %s hangs, and restarts it', async (name) => {
    const victim = launcher.children().find((child) => child.name === name);
    if (!victim) throw new Error(`${name} is not registered`);
    const seen = launcher.lines.length;
    const startedAt = performance.now();
    process.kill(victim.pid, 'SIGSTOP');
    await launcher.line(new RegExp(`^${name} +does not answer any more`), seen);
    // The question is asked every 1.2 s, three times; a busy machine takes a multiple of that.
    expect(performance.now() - startedAt).toBeLessThan(30_000);
    await launcher.line(new RegExp(`^${name} +ready`), seen);
    await expect.poll(() => askSampleQuestion().catch(String)).toMatch(/\[\d+\]/);
  });

  it.each(['postgres', 'nats'])('answers again after the death of %s', async (name) => {
    const victim = launcher.children().find((child) => child.name === name);
    if (!victim) throw new Error(`${name} is not registered`);
    const seen = launcher.lines.length;
    process.kill(victim.pid, 'SIGKILL');
    await launcher.line(new RegExp(`^${name} +ready`), seen);
    await expect.poll(() => askSampleQuestion().catch(String)).toMatch(/\[\d+\]/);
  });

  it('refuses a second start on the same data directory', async () => {
    const second = new LauncherProcess(directory.path);
    expect(await second.exited).toBe(1);
    expect(second.output).toMatch(/Another MegaNest \(process \d+\) uses .*set MEGANEST_DATA_DIR/);
  });

  it('names the service and the number of a port in use', async () => {
    const other = await createTemporaryDirectory();
    const { port } = new URL(launcher.urlOf('gateway'));
    const second = new LauncherProcess(other.path, { GATEWAY_PORT: port });
    expect(await second.exited).toBe(1);
    expect(second.output).toContain(`port ${port} (gateway) is in use`);
    await other.remove();
  });

  it('stops everything within 10 s of SIGTERM', async () => {
    const children = launcher.children();
    expect(children.map(({ name }) => name).toSorted()).toEqual(
      [...allServices, 'nats', 'postgres'].toSorted(),
    );
    const startedAt = performance.now();
    expect(await launcher.stop()).toBe(0);
    expect(performance.now() - startedAt).toBeLessThan(60_000);
    expect(children.filter(isRunning)).toEqual([]);
  });

  it('keeps the documents over a restart, and does not ingest them again', async () => {
    launcher = new LauncherProcess(directory.path);
    await launcher.ready();
    expect(await listDocuments()).toContain('operations.md');
    expect(launcher.output).not.toMatch(/^ingested/m);
  });

  it('leaves nothing behind when it is killed, and starts again after that', async () => {
    const children = launcher.children();
    launcher.signal('SIGKILL');
    await launcher.exited;
    launcher = new LauncherProcess(directory.path, { HOST: '127.0.0.2' });
    await launcher.ready();
    expect(children.filter(isRunning)).toEqual([]);
  });

  it('opens the gateway alone to the address that HOST names', async () => {
    const portOf = (name: string) => new URL(launcher.urlOf(name)).port;
    const statusAt = (host: string, name: string) =>
      fetch(`http://${host}:${portOf(name)}/live`).then(
        ({ status }) => status,
        ({ cause }: { cause?: { code?: string } }) => cause?.code,
      );
    expect(await statusAt('127.0.0.2', 'gateway')).toBe(200);
    for (const name of allServices.filter((one) => one !== 'gateway')) {
      expect(await statusAt('127.0.0.1', name)).toBe(200);
      expect(await statusAt('127.0.0.2', name)).toBe('ECONNREFUSED');
    }
  });

  it('stops at once when it is told to during its start', async () => {
    const other = await createTemporaryDirectory();
    const second = new LauncherProcess(other.path);
    await second.line(/^nats +ready/);
    const children = second.children();
    const startedAt = performance.now();
    await second.stop();
    expect(performance.now() - startedAt).toBeLessThan(60_000);
    expect(children.filter(isRunning)).toEqual([]);
    expect(existsSync(join(other.path, 'launcher.lock'))).toBe(false);
    await other.remove();
  });

  it('stops with npm, when npm is asked to stop and when it is killed', async () => {
    await launcher.stop();
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      launcher = new LauncherProcess(directory.path, {}, throughNpm);
      await launcher.ready();
      const children = launcher.children();
      launcher.signal(signal);
      await launcher.exited;
      const released = () => !existsSync(join(directory.path, 'launcher.lock'));
      await expect.poll(released).toBe(true);
      expect(children.filter(isRunning)).toEqual([]);
    }
  });
});
