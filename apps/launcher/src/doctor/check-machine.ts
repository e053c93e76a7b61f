import { existsSync } from 'node:fs';
import { access, constants, statfs } from 'node:fs/promises';
import { isIP } from 'node:net';
import { findNatsServer } from '#platform/local-stack';
import { projectRoot } from '#platform/foundation';
import { dirname, join } from 'node:path';
import type { LauncherEnvironment } from '../environment.js';
import { fail, ok, reasonOf, warn, type Finding } from './finding.js';

const minNodeVersion = [20, 19] as const;
const littleSpaceBytes = 1024 ** 3;

/** Checks the version of Node, the data directory and the listening address. */
export async function checkMachine(environment: LauncherEnvironment): Promise<Finding[]> {
  return [
    checkNode(process.versions.node),
    checkAddress(environment),
    ...(await checkDataDirectory(environment.MEGANEST_DATA_DIR)),
  ];
}

/** Checks that Node.js is 20.19 or later. */
export function checkNode(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const enough = major > minNodeVersion[0] || (major === minNodeVersion[0] && minor >= minNodeVersion[1]);
  return enough
    ? ok('node', version)
    : fail('node', `${version} is too old`, `install Node ${minNodeVersion.join('.')} or later`);
}

function checkAddress({ HOST, API_KEYS, API_KEYS_FILE, MEGANEST_ALLOW_OPEN }: LauncherEnvironment): Finding {
  const loopback = HOST === 'localhost' || HOST === '::1' || (isIP(HOST) === 4 && HOST.startsWith('127.'));
  if (loopback) return ok('address', `${HOST}, this machine only`);
  if (API_KEYS.length > 0) return ok('address', `${HOST} with ${API_KEYS.length} API keys`);
  if (API_KEYS_FILE !== undefined) return ok('address', `${HOST} with the API keys of ${API_KEYS_FILE}`);
  if (MEGANEST_ALLOW_OPEN)
    return warn(
      'address',
      `every client that can reach ${HOST} has access`,
      'set API_KEYS unless the network is trusted',
    );
  return fail('address', `HOST=${HOST} without API_KEYS is refused`, 'set API_KEYS, or HOST=127.0.0.1');
}

/** The nearest existing parent of a directory. The first start creates the directory in it. */
function nearestExisting(path: string): string {
  return existsSync(path) ? path : nearestExisting(dirname(path));
}

async function checkDataDirectory(directory: string): Promise<Finding[]> {
  const existing = nearestExisting(directory);
  try {
    await access(existing, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    return [
      fail(
        'data',
        `${directory} cannot be written: ${reasonOf(error)}`,
        'give the user that runs MegaNest the directory, or set MEGANEST_DATA_DIR',
      ),
    ];
  }
  const { bavail, bsize } = await statfs(existing);
  const free = bavail * bsize;
  const shown = `${directory}, ${(free / 1024 ** 3).toFixed(1)} GiB free`;
  if (free >= littleSpaceBytes) return [ok('data', shown)];
  return [warn('data', shown, 'free some space: models and JetStream need room')];
}

/** Checks that a nats-server program exists. `npm start` starts it if NATS_URL is not set. */
export async function checkNatsProgram(environment: LauncherEnvironment): Promise<Finding> {
  const cacheDirectory = join(projectRoot, 'node_modules', '.cache', 'meganest');
  try {
    const { path } = await findNatsServer({ explicitPath: environment.NATS_SERVER_BINARY, cacheDirectory });
    return ok('nats', `${path} is started by npm start`);
  } catch (error) {
    const fix = 'install nats-server, or set NATS_SERVER_BINARY or NATS_URL';
    return fail('nats', `no nats-server: ${reasonOf(error)}`, fix);
  }
}
