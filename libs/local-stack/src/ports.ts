import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Whether a server can listen on that port now. Errors: every error other than "in use", such as a missing permission.
 */
export async function isPortFree(port: number, host = '127.0.0.1'): Promise<boolean> {
  const server = createServer();
  try {
    await once(server.listen({ port, host, exclusive: true }), 'listening');
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false;
    throw error;
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
}

/**
 * A port that was free on `host` a moment ago; another server may take it first. A connection cannot take it: the range
 * lies below the ports that systems give to connections (from 32,768 on Linux, from 49,152 elsewhere), and above 10,080,
 * the last one that `fetch` refuses.
 */
export async function freePort(host = '127.0.0.1'): Promise<number> {
  for (;;) {
    const port = randomInt(10_081, 32_768);
    if (await isPortFree(port, host)) return port;
  }
}
