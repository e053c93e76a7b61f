import { createServer } from 'node:net';

function tryListen(port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ port, host, exclusive: true }, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : port));
    });
  });
}

/** A port that was free on `host` a moment ago; another process may take it first. */
export function freePort(host = '127.0.0.1'): Promise<number> {
  return tryListen(0, host);
}

/**
 * Whether a server can listen on that port now. Errors: every error other than "in use", such as a missing permission.
 */
export async function isPortFree(port: number, host = '127.0.0.1'): Promise<boolean> {
  try {
    await tryListen(port, host);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false;
    throw error;
  }
}
