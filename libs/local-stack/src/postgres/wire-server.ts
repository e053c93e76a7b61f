import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { PGlite } from '@electric-sql/pglite';
import { PGLiteSocketHandler, type PGLiteSocketHandlerOptions } from '@electric-sql/pglite-socket';
import { SessionScheduler } from './session-scheduler.js';

export interface WireServerOptions {
  database: PGlite;
  /** 0: a free port. */
  port: number;
  maxConnections: number;
  /** See SessionSchedulerOptions. */
  idleInTransactionMs: number;
  onFatal(error: Error): void;
}

export interface WireServer {
  port: number;
  scheduler: SessionScheduler;
  /** Closes every connection, then the port. */
  stop(): Promise<void>;
}

/** The ErrorResponse with severity FATAL that a Postgres server sends before it closes a connection. */
export function fatalResponse(code: string, message: string): Buffer {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${message}\0\0`, 'utf8');
  const header = Buffer.alloc(5);
  header.write('E');
  header.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([header, fields]);
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host: '127.0.0.1' }, () => resolve((server.address() as AddressInfo).port));
  });
}

/**
 * Serves the Postgres protocol on loopback in front of one PGlite: framing by pglite-socket's handler, one per
 * connection, scheduling by SessionScheduler. There are no passwords: every local process can connect.
 */
export async function startWireServer(options: WireServerOptions): Promise<WireServer> {
  const sockets = new Map<number, Socket>();
  const scheduler = new SessionScheduler({
    database: options.database,
    idleInTransactionMs: options.idleInTransactionMs,
    evict: (clientId) => {
      const socket = sockets.get(clientId);
      socket?.write(fatalResponse('25P03', 'terminating connection due to idle-in-transaction timeout'));
      socket?.destroySoon();
    },
    disconnect: (clientId) => {
      sockets.get(clientId)?.end();
      sockets.delete(clientId);
    },
    onFatal: (error) => options.onFatal(error),
  });
  const server = createServer((socket) => {
    if (sockets.size >= options.maxConnections) {
      socket.end(fatalResponse('53300', 'sorry, too many clients already'));
      return;
    }
    const handler = new PGLiteSocketHandler({
      // pglite-socket does not export the class that the scheduler replaces. The handler calls these methods only.
      queryQueue: scheduler as unknown as PGLiteSocketHandlerOptions['queryQueue'],
      closeOnDetach: true,
    });
    sockets.set(handler.handlerId, socket);
    socket.once('close', () => sockets.delete(handler.handlerId));
    void handler.attach(socket);
  });
  const port = await listen(server, options.port);
  return {
    port,
    scheduler,
    stop: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      await scheduler.close();
      for (const socket of sockets.values()) {
        socket.write(fatalResponse('57P01', 'terminating connection due to administrator command'));
        socket.destroySoon();
      }
      await closed;
    },
  };
}
