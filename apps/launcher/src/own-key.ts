import { randomBytes } from 'node:crypto';
import type { LauncherEnvironment } from './environment.js';

/**
 * The variables of the services, with a key of the launcher where the keys are in `API_KEYS_FILE` alone: the file has
 * hashes only, and the launcher ingests the sample documents and reads warnings. The key is a new one at each start, and
 * only the processes know it.
 */
export function withOwnKey(
  variables: NodeJS.ProcessEnv,
  { API_KEYS, API_KEYS_FILE }: Pick<LauncherEnvironment, 'API_KEYS' | 'API_KEYS_FILE'>,
): NodeJS.ProcessEnv {
  if (API_KEYS_FILE === undefined || API_KEYS.length > 0) return variables;
  return { ...variables, API_KEYS: randomBytes(32).toString('base64url') };
}
