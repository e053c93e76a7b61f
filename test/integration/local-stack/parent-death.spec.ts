import { spawn } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it } from 'vitest';
import { findNatsServer, identifyProcess, isRunning } from '#platform/local-stack';
import {
  bundleProgram,
  cacheDirectory,
  createTemporaryDirectory,
  postgresTemplate,
  repositoryRoot,
} from '#platform/testing';

/** Starts both servers as the launcher does and prints their process ids. */
const parent = `
  import { startEmbeddedPostgres, startNatsServer } from '#platform/local-stack';
  const [program, dataDirectory, template] = process.argv.slice(2);
  const nats = await startNatsServer({ program, dataDirectory });
  const postgres = await startEmbeddedPostgres({ dataDirectory, template });
  console.log(JSON.stringify([nats.process.pid, postgres.process.pid]));
  setInterval(() => {}, 1e6);
`;

async function firstLine(stream: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: stream })) return line;
  throw new Error('The process printed nothing');
}

it('leaves no process behind when the parent is killed', async () => {
  const directory = await createTemporaryDirectory();
  const { path } = await findNatsServer({ cacheDirectory });
  const program = await bundleProgram(parent);
  const child = spawn(process.execPath, [program, path, directory.path, postgresTemplate()], {
    cwd: repositoryRoot,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const identities = (JSON.parse(await firstLine(child.stdout)) as number[]).map(identifyProcess);
  expect(identities.map(isRunning)).toEqual([true, true]);
  child.kill('SIGKILL');
  await expect.poll(() => identities.map(isRunning)).toEqual([false, false]);
  await directory.remove();
  await rm(dirname(program), { recursive: true });
});
