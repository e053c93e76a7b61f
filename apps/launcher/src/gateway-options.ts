import { parseArgs } from 'node:util';
import { EnvironmentError } from '#platform/service-kit';
import { readLauncherEnvironment } from './environment.js';

/** Where a command finds a running MegaNest. */
export interface GatewayOptions {
  readonly url: string;
  readonly key: string | undefined;
}

/**
 * Reads `--url` and `--key` of a command; undefined with `--help`. By default the gateway of this machine, and the first
 * of API_KEYS. Errors: EnvironmentError with the usage.
 */
export function readGatewayOptions(usage: string): GatewayOptions | undefined {
  const { url, key, help } = parse(usage);
  if (help) return undefined;
  const { API_KEYS, GATEWAY_PORT } = readLauncherEnvironment(process.env);
  return { url: url ?? `http://127.0.0.1:${GATEWAY_PORT}`, key: key ?? API_KEYS[0] };
}

function parse(usage: string) {
  const text = { type: 'string' } as const;
  try {
    return parseArgs({ options: { url: text, key: text, help: { type: 'boolean', short: 'h' } } }).values;
  } catch (error) {
    throw new EnvironmentError(`${(error as Error).message}\n\n${usage}`, { cause: error });
  }
}
