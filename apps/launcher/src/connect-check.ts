import { connect } from 'node:net';

/** A server that the environment names does not answer. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError';
}

/** Opens and closes one TCP connection to the host and port of a URL. Errors: UnreachableError that names the variable. */
export async function checkReachable(variable: string, url: string, defaultPort: number): Promise<void> {
  const { hostname, port } = new URL(url);
  const address = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || defaultPort) };
  await new Promise<void>((resolve, reject) => {
    const refuse = (reason: string) =>
      reject(
        new UnreachableError(`${variable}: nothing answers on ${address.host}:${address.port} (${reason}).`),
      );
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
