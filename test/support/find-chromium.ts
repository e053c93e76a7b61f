import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { repositoryRoot } from '#platform/testing';

const names = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];

/** A build of Chromium that is an npm package, with the shared libraries it needs, for systems that cannot install one. */
const fromNpm = '@sparticuz/chromium@153.0.0';
const cache = join(repositoryRoot, 'node_modules/.cache/meganest/chromium');

/** A program of Chromium and the environment that it needs. */
export interface FoundChromium {
  executablePath: string;
  env?: NodeJS.ProcessEnv;
}

/**
 * A Chromium: one on the PATH, else Debian's, which is installed where that is allowed, else one from npm. Errors: says
 * what was tried.
 */
export function findChromium(): FoundChromium {
  const installed = onPath() ?? (installFromDebian() ? onPath() : undefined);
  if (installed) return { executablePath: installed };
  const taken = takeFromNpm();
  if (taken) return taken;
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

/** Unpacks the program and its libraries, which the package itself does on the systems of one cloud only. */
const unpack = `
  const { default: chromium, inflate } = await import(process.argv[1]);
  await inflate(process.argv[2]);
  console.log(await chromium.executablePath());`;

function takeFromNpm(): FoundChromium | undefined {
  const folder = join(cache, 'node_modules/@sparticuz/chromium');
  const entry = join(folder, 'build/index.js');
  if (!existsSync(entry)) {
    mkdirSync(cache, { recursive: true });
    const options = ['--prefix', cache, '--no-save', '--no-audit', '--no-fund', '--ignore-scripts'];
    if (spawnSync('npm', ['install', ...options, fromNpm]).status !== 0) return undefined;
  }
  // The package unpacks into the temporary folder, which this process uses for other things.
  const script = ['--input-type=module', '-e', unpack, pathToFileURL(entry).href];
  const env = { ...process.env, TMPDIR: cache };
  const { status, stdout } = spawnSync(process.execPath, [...script, join(folder, 'bin/al2023.tar.br')], {
    env,
    encoding: 'utf8',
  });
  if (status !== 0) return undefined;
  const libraries = [join(cache, 'al2023/lib'), process.env['LD_LIBRARY_PATH']].filter(Boolean).join(':');
  return {
    executablePath: stdout.trim(),
    env: { ...process.env, LD_LIBRARY_PATH: libraries, FONTCONFIG_FILE: writeFontConfig() },
  };
}

/** The package's own configuration names folders of its cloud; a Chromium without any font ends at the first letter. */
function writeFontConfig(): string {
  const file = join(cache, 'fonts.conf');
  const folders = [join(cache, 'fonts'), '/usr/share/fonts'].map((folder) => `<dir>${folder}</dir>`).join('');
  writeFileSync(
    file,
    `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig>${folders}<cachedir>${join(cache, 'fonts-cache')}</cachedir></fontconfig>`,
  );
  return file;
}
