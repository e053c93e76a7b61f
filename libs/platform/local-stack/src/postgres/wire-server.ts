import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { PGlite } from '@electric-sql/pglite';
import { PGLiteSocketHandler, type PGLiteSocketHandlerOptions } from '@electric-sql/pglite-socket';
import { PasswordDialog, RefusedClientError } from './password-dialog.js';
import { SessionScheduler } from './session-scheduler.js';

export interface WireServerOptions {
  database: PGlite;
  /** 0: a free port. */
  port: number;
  maxConnections: number;
  /** Each client has to send it: other users of the machine can reach the port too. */
  password: string;
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

type HandlerQueue = Pick<
  SessionScheduler,
  'enqueue' | 'clearQueueForHandler' | 'clearTransactionIfNeeded' | 'getQueueLength'
>;

/**
 * Sends what is written until the next turn of the event loop in one piece. A statement is five messages, which arrive
 * together, and the database answers each of them in pieces: one system call here and one in the client for each.
 */
function writeTogether(socket: Socket): void {
  if (socket.writableCorked > 0) return;
  socket.cork();
  setImmediate(() => socket.uncork());
}

/** The part of the scheduler that a connection uses. */
function queueOf(scheduler: SessionScheduler, socket: Socket): HandlerQueue {
  return {
    enqueue: (clientId, bytes, onData) =>
      scheduler.enqueue(clientId, bytes, (data) => {
        writeTogether(socket);
        onData(data);
      }),
    clearQueueForHandler: (clientId) => scheduler.clearQueueForHandler(clientId),
    clearTransactionIfNeeded: (clientId) => scheduler.clearTransactionIfNeeded(clientId),
    getQueueLength: () => scheduler.getQueueLength(),
  };
}

/** Milliseconds until a client must have sent the password. */
const passwordTimeoutMs = 60_000;

/** Calls `serve` after the client has sent the password; its first message can then be read again. */
function admit(socket: Socket, password: string, serve: () => void): void {
  const dialog = new PasswordDialog(password, (bytes) => socket.write(bytes));
  const leave = () => socket.destroy();
  const read = (bytes: Buffer) => {
    try {
      const rest = dialog.take(bytes);
      if (!rest) return;
      socket.pause();
      socket.off('data', read).off('error', leave).off('timeout', leave).setTimeout(0);
      socket.unshift(rest);
      serve();
      socket.resume();
    } catch (error) {
      if (!(error instanceof RefusedClientError)) throw error;
      socket.off('data', read).end(fatalResponse(error.code, error.message));
    }
  };
  socket.on('error', leave).setTimeout(passwordTimeoutMs, leave).on('data', read);
}

/**
 * Serves the Postgres protocol on loopback in front of one PGlite: framing by pglite-socket's handler, one per
 * connection, scheduling by SessionScheduler. A client reaches the database after it has sent the password.
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
  const waiting = new Set<Socket>();
  const server = createServer((socket) => {
    if (Math.max(sockets.size, waiting.size) >= options.maxConnections) {
      socket.end(fatalResponse('53300', 'sorry, too many clients already'));
      return;
    }
    waiting.add(socket);
    socket.once('close', () => waiting.delete(socket));
    admit(socket, options.password, () => {
      waiting.delete(socket);
      serve(socket);
    });
  });
  const serve = (socket: Socket) => {
    const handler = new PGLiteSocketHandler({
      // pglite-socket does not export the class that the queue replaces. The handler calls these methods only.
      queryQueue: queueOf(scheduler, socket) as unknown as PGLiteSocketHandlerOptions['queryQueue'],
      closeOnDetach: true,
    });
    sockets.set(handler.handlerId, socket);
    socket.once('close', () => sockets.delete(handler.handlerId));
    void handler.attach(socket);
  };
  const port = await listen(server, options.port);
  return {
    port,
    scheduler,
    stop: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      await scheduler.close();
      for (const socket of waiting) socket.destroy();
      for (const socket of sockets.values()) {
        socket.write(fatalResponse('57P01', 'terminating connection due to administrator command'));
        socket.destroySoon();
      }
      await closed;
    },
  };
}
