/** The Docker engine of `npm run test:compose`: the one that runs, or one of its own on Debian. */
import { mkdtempSync, readFileSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { root, run } from './docker.mjs';

/** This machine cannot run the test; the message says why. */
export class SkippedError extends Error {}

const script = join(root, 'tools/compose/engine.sh');
const overlay = 0x794c7630;

/** Returns the first error line of a failed command. */
const reasonOf = (error) =>
  String(error.output ?? error.message)
    .trim()
    .split('\n')
    .at(-1);

const works = (command, args) =>
  run(command, args, { timeoutMs: 30_000 }).then(
    () => true,
    () => false,
  );

/** An engine cannot store its layers in an overlay, which is the file system of containers. */
function folderForEngine() {
  const candidates = ['/var/tmp', tmpdir(), '/dev/shm'];
  const usable = candidates.find((path) => {
    try {
      return statfsSync(path).type !== overlay;
    } catch {
      return false;
    }
  });
  if (usable === undefined) throw new SkippedError('every file system for temporary files is an overlay');
  return mkdtempSync(join(usable, 'meganest-compose-'));
}

/**
 * Returns an engine with Compose: `isOwn` if this starts it, and `stop`. Errors: SkippedError.
 */
export async function startEngine() {
  if (await works('docker', ['info'])) {
    if (!(await works('docker', ['compose', 'version']))) throw new SkippedError('Docker lacks Compose v2');
    return { isOwn: false, stop: async () => undefined };
  }
  const isDebian = await works('apt-get', ['--version']);
  if (process.getuid?.() !== 0 || !isDebian)
    throw new SkippedError('a Docker engine does not run, and only root on Debian can start one');
  process.env.ENGINE_DIR = folderForEngine();
  process.env.DOCKER_CONFIG = join(process.env.ENGINE_DIR, 'config');
  process.env.DOCKER_HOST = `unix://${join(process.env.ENGINE_DIR, 'docker.sock')}`;
  const stop = () => run(script, ['stop'], { timeoutMs: 300_000, cleansUp: true });
  try {
    await run(script, ['install']);
    await run(script, ['start']);
  } catch (error) {
    await stop().catch(() => undefined);
    throw new SkippedError(`a Docker engine cannot be started: ${reasonOf(error)}`);
  }
  return { isOwn: true, stop };
}

/** The official images that the Dockerfile and the Compose files name; the GPU's are not tested. */
function officialImages() {
  const files = ['deploy/Dockerfile', 'docker-compose.yml', 'deploy/compose.proxy.yml'];
  const names = files.flatMap((file) =>
    [
      ...readFileSync(join(root, file), 'utf8').matchAll(/^(?:FROM| +image:) ([a-z][\w./-]*:[\w.-]+\S*)/gm),
    ].map(([, name]) => name),
  );
  return [...new Set(names)].filter((name) => !name.startsWith('nvidia/'));
}

/** True if the registry answers, in whichever way. */
const registryAnswers = () =>
  fetch('https://registry-1.docker.io/v2/', { signal: AbortSignal.timeout(5_000) }).then(
    () => true,
    () => false,
  );

/**
 * Provides the official images, or in an engine of the test's own stand-ins where the registry does not answer. Returns
 * which of them. Errors: SkippedError.
 */
export async function provideBaseImages({ isOwn }) {
  const images = officialImages();
  const present = await Promise.all(images.map((image) => works('docker', ['image', 'inspect', image])));
  const missing = images.filter((_, index) => !present[index]);
  if (missing.length === 0) return 'present';
  if (!isOwn || (await registryAnswers())) {
    try {
      for (const image of missing) await run('docker', ['pull', '--quiet', image]);
      return 'official';
    } catch (error) {
      if (!isOwn) throw new SkippedError(`the base images cannot be pulled: ${reasonOf(error)}`);
    }
  }
  try {
    await run(script, ['base', ...missing], { timeoutMs: 420_000 });
  } catch (error) {
    throw new SkippedError(`the base images can be neither pulled nor built: ${reasonOf(error)}`);
  }
  return 'stand-ins';
}

/** The build of the image needs packages. Errors: SkippedError where its containers cannot fetch them. */
export async function requireNpmRegistry() {
  const image = officialImages().find((name) => name.startsWith('node:'));
  const view = [
    'npm',
    'view',
    'reflect-metadata@0.2.2',
    'version',
    '--fetch-retries=1',
    '--fetch-timeout=20000',
  ];
  try {
    await run('docker', ['run', '--rm', image, ...view], { timeoutMs: 90_000 });
  } catch (error) {
    throw new SkippedError(`containers cannot reach the npm registry: ${reasonOf(error)}`);
  }
}
