import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { nodeProgram } from '#platform/local-stack';
import { cleanEnvironment, createTemporaryDirectory, repositoryRoot } from '#platform/testing';
import { expect, it } from 'vitest';
import { randomPorts } from '../support/launcher-process.js';

/** Runs the launcher with arguments until it ends by itself. */
async function launch(options: string[], variables: NodeJS.ProcessEnv = {}) {
  const folder = await createTemporaryDirectory();
  const { command, args } = nodeProgram('launcher');
  const env = { ...cleanEnvironment(), ...randomPorts, MEGANEST_DATA_DIR: folder.path, ...variables };
  const result = await new Promise<{ code: number; output: string }>((resolve) => {
    execFile(command, [...args(), ...options], { cwd: repositoryRoot, env }, (error, out, errors) =>
      resolve({ code: error ? Number(error.code) : 0, output: `${out}${errors}` }),
    );
  });
  await folder.remove();
  return result;
}

it('explains itself', async () => {
  const { code, output } = await launch(['--help']);
  expect(code).toBe(0);
  expect(output).toMatch(/^Usage: npm start[\s\S]*--print-config[\s\S]*GATEWAY_PORT=8888/);
});

it('refuses an unknown option with the known ones, without a stack', async () => {
  const { code, output } = await launch(['--port', '1']);
  expect(code).toBe(1);
  expect(output).toMatch(/^Unknown option '--port'[\s\S]*Options:\n {2}--help/);
  expect(output).not.toMatch(/^ +at /m);
});

it('names a misspelled variable and the right one', async () => {
  const { output } = await launch(['--print-config'], { LLM_ENDPONT: 'http://127.0.0.1:1/v1' });
  expect(output).toMatch(
    /^warning +LLM_ENDPONT is not a variable of MegaNest.* Did you mean LLM_ENDPOINT\?/m,
  );
});

it.runIf(existsSync('/proc/self'))('refuses a data directory that cannot be made, at once', async () => {
  const { code, output } = await launch([], { MEGANEST_DATA_DIR: '/proc/x' });
  expect({ code, output }).toEqual({
    code: 1,
    output: expect.stringMatching(/^MEGANEST_DATA_DIR: \/proc\/x cannot be used: /) as string,
  });
});

it('shows the reason of a service that cannot start, without a stack', async () => {
  const { code, output } = await launch([], {
    LLM_MODEL_ID: 'acme/missing',
    HF_ENDPOINT: 'http://127.0.0.1:9',
    MEGANEST_SAMPLE_DOCUMENTS: 'false',
  });
  expect(code).toBe(1);
  expect(output).toMatch(
    /^llm +\| the service cannot start: http:\/\/127\.0\.0\.1:9\/api\/models\/acme\/missing.* cannot be reached/m,
  );
  expect(output).not.toMatch(/^ +at |\| +at /m);
});
