import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
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

/** Resolves to false if another process holds the UDP port of that number. Otherwise this process holds it until its end. */
async function reserve(port: number): Promise<boolean> {
  const socket = createSocket('udp4').unref();
  try {
    socket.bind({ port, address: '127.0.0.1', exclusive: true });
    await once(socket, 'listening');
    return true;
  } catch (error) {
    socket.close();
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false;
    throw error;
  }
}

/**
 * A port that is free on `host` and that no other call gets as long as this process runs: seconds can pass until a
 * server listens there. The UDP port of the same number marks it, since systems release that with the process. Programs
 * that do not use this function may still take the port; a connection cannot take it: the range lies below the ports
 * that systems give to connections (from 32,768 on Linux, from 49,152 elsewhere), and above 10,080, the last one that
 * `fetch` refuses.
 */
export async function freePort(host = '127.0.0.1'): Promise<number> {
  for (;;) {
    const port = randomInt(10_081, 32_768);
    if ((await isPortFree(port, host)) && (await reserve(port))) return port;
  }
}
