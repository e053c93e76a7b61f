import { connect } from 'node:net';

/** A server that the environment names does not answer. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError';
}

function openOnce(address: { host: string; port: number }): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    const refuse = (reason: string) =>
      reject(new Error(`nothing answers on ${address.host}:${address.port} (${reason})`));
    const socket = connect({ ...address, timeout: 10_000 }, () => {
      socket.destroy();
      resolve();
    });
    socket.once('timeout', () => {
      socket.destroy();
      refuse('no answer within 10 s');
    });
    socket.once('error', (error) => refuse(error.message));
  });
}

/** Host and port of a URL, whose scheme may be missing. */
function parseAddress(url: string, defaultPort: number): { host: string; port: number } {
  const { hostname, port } = new URL(url.includes('://') ? url : `tcp://${url}`);
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || defaultPort) };
}

/**
 * Opens and closes one TCP connection to a URL, or to the first that answers of a comma list. Errors: UnreachableError that names
 * the variable and every address that was tried.
 */
export async function checkReachable(variable: string, urls: string, defaultPort: number): Promise<void> {
  const attempts = urls.split(',').map((url) => openOnce(parseAddress(url.trim(), defaultPort)));
  await Promise.any(attempts).catch((error: AggregateError) => {
    const reasons = error.errors.map((reason: Error) => reason.message).join('; ');
    throw new UnreachableError(`${variable}: ${reasons}.`, { cause: error });
  });
}
