import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { nodeProgram } from '#platform/local-stack';
import { cleanEnvironment, startPostgres, type TestPostgres } from '#platform/testing';

const run = promisify(execFile);
let postgres: TestPostgres;

beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres?.stop());

const migrate = (env: NodeJS.ProcessEnv) => {
  const { command, args } = nodeProgram('migrate');
  return run(command, args(), { env: { ...cleanEnvironment(), ...env } });
};

it('applies every migration once', async () => {
  const env = { DATABASE_URL: postgres.connectionString };
  expect((await migrate(env)).stdout).toMatch(/^applied \S+/);
  expect((await migrate(env)).stdout).toBe('The schema is up to date.\n');
});

it('names the variable that is missing', async () => {
  await expect(migrate({})).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining('DATABASE_URL') as string,
  });
});
