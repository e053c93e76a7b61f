import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { cleanEnvironment, repositoryRoot } from '#platform/testing';
import { listDownloads } from '#engine/models';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HubServer } from '../../support/hub-server.js';

const id = 'acme/tiny';
const program = path.join(repositoryRoot, 'dist/models.js');

let scratch: string;
let hub: HubServer;
let environment: NodeJS.ProcessEnv;

beforeEach(async () => {
  scratch = await mkdtemp(path.join(tmpdir(), 'models-command-'));
  const model = path.join(scratch, 'hub', id);
  await mkdir(model, { recursive: true });
  const config = { model_type: 'qwen3', hidden_size: 8 };
  await writeFile(path.join(model, 'config.json'), JSON.stringify(config));
  for (const file of ['tokenizer.json', 'tokenizer_config.json'])
    await writeFile(path.join(model, file), '{}');
  await mkdir(path.join(model, 'onnx'));
  await writeFile(path.join(model, 'onnx/model.onnx'), randomBytes(4_000_000));
  hub = await HubServer.start(path.join(scratch, 'hub'));
  environment = {
    ...cleanEnvironment(),
    HF_ENDPOINT: hub.url,
    HF_HOME: path.join(scratch, 'home'),
    XDG_CACHE_HOME: path.join(scratch, 'none'),
  };
});
afterEach(async () => {
  await hub.close();
  await rm(scratch, { recursive: true });
});

/** Exit code and output; a failure is a result too. */
async function models(...words: string[]): Promise<{ code: number; output: string }> {
  const options = { env: environment, cwd: repositoryRoot };
  const run = promisify(execFile)(process.execPath, [program, ...words], options);
  return run.then(
    ({ stdout, stderr }) => ({ code: 0, output: stdout + stderr }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({
      code,
      output: stdout + stderr,
    }),
  );
}

const cache = () => path.join(scratch, 'home', 'hub');
const graph = 'onnx/model.onnx';

describe('npm run models', () => {
  it('goes on with a download that was killed', async () => {
    hub.faults.push({ file: graph, kind: 'hold', at: 0.6, times: 1 });
    const held = hub.whenHeld(graph);
    const first = spawn(process.execPath, [program, 'pull', id], { env: environment, cwd: repositoryRoot });
    await held;
    // All that may see the cache see how far the download is.
    await expect
      .poll(async () => (await listDownloads(cache()))[0]?.loadedBytes ?? 0)
      .toBeGreaterThan(2_000_000);
    first.kill('SIGKILL');
    await once(first, 'exit');
    const { code, output } = await models('pull', id);
    expect(output).toContain(path.join('snapshots', hub.commitOf(id)));
    expect(code).toBe(0);
    const ranges = hub.asked(graph).map(({ range }) => range);
    expect(ranges).toHaveLength(2);
    expect(Number(/^bytes=(\d+)-$/.exec(ranges[1] ?? '')?.[1])).toBeGreaterThan(2_000_000);
    expect(await models('check')).toEqual({
      code: 0,
      output: expect.stringMatching(/^acme\/tiny \w+: ok\n$/),
    });
  });

  it('lists, checks and removes', async () => {
    expect(await models('list')).toEqual({ code: 0, output: 'No models of the hub are downloaded.\n' });
    expect(await models('pull', id)).toMatchObject({ code: 0 });
    const { output } = await models('list');
    expect(output).toMatch(/^acme\/tiny {2}[0-9a-f]{12} main {2}4\.0 MB {2}complete {2}\//);
    const blobs = path.join(cache(), 'models--acme--tiny', 'blobs');
    const large = (await readdir(blobs)).find((name) => name.length === 64)!;
    await writeFile(path.join(blobs, large), randomBytes(4_000_000));
    expect(await models('check', id)).toEqual({
      code: 1,
      output: expect.stringContaining(`damaged: ${graph}`),
    });
    expect(await models('rm', id)).toEqual({ code: 0, output: 'acme/tiny is removed.\n' });
    expect(await models('rm', id)).toMatchObject({ code: 1 });
    expect(await models('check', id)).toEqual({
      code: 1,
      output: expect.stringContaining('is not downloaded'),
    });
  });

  it('says how it is used, and why a download failed', async () => {
    expect(await models('--help')).toEqual({ code: 0, output: expect.stringContaining('pull [models]') });
    expect(await models('fetch')).toEqual({ code: 1, output: expect.stringContaining('Usage:') });
    expect(await models('pull', 'tiny')).toEqual({
      code: 1,
      output: expect.stringContaining('"tiny" is not a model'),
    });
    expect(await models('pull')).toEqual({ code: 1, output: expect.stringContaining('Name a model') });
    hub.token = 'secret';
    expect(await models('pull', id)).toEqual({ code: 1, output: expect.stringContaining('set HF_TOKEN') });
  });
});
