/**
 * `npm run backup -- <directory>`: copies the embedded database to a new data directory. The database may be running.
 */
import {
  acquireFileLock,
  databaseCopy,
  embeddedLock,
  isRunning,
  type ProcessIdentity,
} from '#platform/local-stack';
import { existsSync, watch } from 'node:fs';
import { cp, mkdir, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { readLauncherEnvironment } from '../environment.js';
import { readRegister } from '../process-register.js';

/** Timeout for the copy by the running database. */
const patienceMs = 600_000;

/** The process of the running database, from the launcher's register. */
function runningDatabase(dataDirectory: string): ProcessIdentity | undefined {
  const noted = readRegister(join(dataDirectory, 'processes.json'));
  return noted.find((one) => one.name === 'postgres' && isRunning(one));
}

/** Asks the running database for a copy, and waits until the copy is complete. */
async function askForCopy(database: ProcessIdentity, directory: string): Promise<string> {
  const copy = join(directory, databaseCopy);
  await rm(copy, { recursive: true, force: true });
  const over = AbortSignal.timeout(patienceMs);
  await new Promise<void>((done, fail) => {
    const look = () => {
      if (existsSync(copy)) finish(done);
      else if (!isRunning(database)) finish(() => fail(new Error('The database ended while it was copied.')));
    };
    const watcher = watch(directory, look);
    // The end of the process does not change the directory, so that a timer checks for it.
    const timer = setInterval(look, 1_000);
    const finish = (settle: () => void) => {
      watcher.close();
      clearInterval(timer);
      settle();
    };
    over.addEventListener('abort', () =>
      finish(() => fail(new Error('The database did not make a copy; see .data/logs.'))),
    );
    process.kill(database.pid, 'SIGUSR2');
  });
  return copy;
}

/** Holds the lock of the database while its files are copied, so that the database cannot start. */
async function copyAtRest(directory: string, target: string): Promise<void> {
  const lock = await acquireFileLock(join(directory, embeddedLock), { holder: 'npm run backup' });
  try {
    await cp(join(directory, 'pgdata'), target, { recursive: true });
  } finally {
    await lock.release();
  }
}

/**
 * Copies the embedded database into the new data directory `target`, for `MEGANEST_DATA_DIR=<target> npm start`.
 * Returns a message for the user. Errors: the target is missing or exists, DATABASE_URL is set, or there is no
 * database.
 */
async function backUp(variables: NodeJS.ProcessEnv, target: string | undefined): Promise<string> {
  const { DATABASE_URL, MEGANEST_DATA_DIR } = readLauncherEnvironment(variables);
  if (target === undefined) throw new Error('Usage: npm run backup -- <new directory>');
  if (DATABASE_URL !== undefined) throw new Error('DATABASE_URL is set: back that database up with pg_dump.');
  if (existsSync(target)) throw new Error(`${target} exists; name a directory that does not.`);
  const directory = join(MEGANEST_DATA_DIR, 'postgres');
  if (!existsSync(join(directory, 'pgdata'))) throw new Error(`${directory} does not contain a database.`);
  const draft = `${resolve(target)}.draft`;
  const files = join(draft, 'postgres', 'pgdata');
  await rm(draft, { recursive: true, force: true });
  await mkdir(join(draft, 'postgres'), { recursive: true, mode: 0o700 });
  const running = runningDatabase(MEGANEST_DATA_DIR);
  if (running === undefined) await copyAtRest(directory, files);
  else {
    const copy = await askForCopy(running, directory);
    await cp(copy, files, { recursive: true });
    await rm(copy, { recursive: true });
  }
  await rename(draft, target);
  return `${target} contains the database. To use it: MEGANEST_DATA_DIR=${target} npm start`;
}

try {
  const [target] = process.argv.slice(2);
  console.log(await backUp(process.env, target));
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}
