import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { repositoryRoot } from '#testing';

const names = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];

/** A build of Chromium that is an npm package, for machines whose system has none to install. */
const fromNpm = '@sparticuz/chromium@153.0.0';
const cache = join(repositoryRoot, 'node_modules/.cache/meganest/chromium');

/**
 * The program of a Chromium: one on the PATH, else Debian's, which is installed where that is allowed, else one from npm.
 * Errors: says what was tried.
 */
export async function findChromium(): Promise<string> {
  const found = onPath() ?? (installFromDebian() ? onPath() : undefined) ?? (await takeFromNpm());
  if (found) return found;
  throw new Error(
    `No Chromium: tried ${names.join(', ')} on the PATH, apt-get install chromium and ${fromNpm}. Install one.`,
  );
}

function onPath(): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(':');
  return names
    .flatMap((name) => folders.map((folder) => join(folder, name)))
    .find((path) => existsSync(path));
}

function installFromDebian(): boolean {
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return false;
  const install = () =>
    spawnSync('apt-get', ['install', '-y', '--no-install-recommends', 'chromium'], {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    }).status === 0;
  return install() || (spawnSync('apt-get', ['update']).status === 0 && install());
}

async function takeFromNpm(): Promise<string | undefined> {
  const entry = join(cache, 'node_modules/@sparticuz/chromium/build/esm/index.js');
  if (!existsSync(entry)) {
    const options = ['--prefix', cache, '--no-save', '--no-audit', '--no-fund', '--ignore-scripts'];
    if (spawnSync('npm', ['install', ...options, fromNpm]).status !== 0) return undefined;
  }
  const loaded = (await import(pathToFileURL(entry).href)) as {
    default: { executablePath(): Promise<string> };
  };
  return loaded.default.executablePath();
}
