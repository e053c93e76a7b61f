import { MegaNestError } from '#platform/contracts';
import type { FastifyReply } from 'fastify';
import { sendError } from './error.filter.js';

/** Frames of a server-sent event stream, as text that ends in a blank line. */
export type Frames = AsyncIterable<string>;

/** Options of a stream. */
export interface StreamOptions {
  contentType?: string;
  /** Sets headers that are known with the first frame. */
  beforeHead?: () => void;
}

const eventStream = 'text/event-stream; charset=utf-8';
/** Silence after which a comment is sent. Proxies close a connection after 50 to 60 s of silence. */
export const keepAliveMs = 15_000;
/** Clients ignore comments. */
export const keepAlive = ': keep-alive\n\n';

/**
 * Writes server-sent events; each frame is one chunk of HTTP, because some clients parse each chunk as one event. It
 * sends the head with the first frame, so that an error before it has its own status. An error after it becomes the
 * frame of `onError`. A silent stream gets comments; the first one sends the head. It waits for slow readers.
 */
export async function sendEventStream(
  reply: FastifyReply,
  frames: Frames,
  onError: (error: MegaNestError) => string,
  options: StreamOptions = {},
): Promise<void> {
  const { raw } = reply;
  const writer = new FrameWriter(reply, options);
  try {
    for await (const frame of frames) {
      if (raw.destroyed) return;
      await writer.write(frame);
    }
    writer.open();
  } catch (thrown) {
    const error = MegaNestError.from(thrown, 'gateway');
    if (!raw.headersSent && reply.sent) {
      // The head could not be written: an error cannot be sent.
      raw.destroy();
      return;
    }
    if (!raw.headersSent) return sendError(reply, error);
    if (!raw.destroyed) await writer.write(onError(error));
  } finally {
    writer.stop();
  }
  writer.end();
}

/** Writes each frame as one chunk. The chunks of one turn of the event loop leave together. */
class FrameWriter {
  #corked: FastifyReply['raw']['socket'] | undefined;
  #keepAlive: NodeJS.Timeout | undefined;

  constructor(
    private readonly reply: FastifyReply,
    private readonly options: StreamOptions,
  ) {
    const { contentType = eventStream } = options;
    if (contentType === eventStream)
      this.#keepAlive = setInterval(() => this.#sayNothing(), keepAliveMs).unref();
  }

  /** Writes the head, unless it was written. */
  open(): void {
    if (!this.reply.raw.headersSent) writeHead(this.reply, this.options);
  }

  /** Resolves at once, or when a slow reader has read on. */
  async write(frame: string): Promise<void> {
    const { raw } = this.reply;
    this.open();
    this.#keepAlive?.refresh();
    this.#cork();
    raw.write(frame);
    if (raw.writableNeedDrain) await drained(this.reply);
  }

  /** Stops the comments. */
  stop(): void {
    clearInterval(this.#keepAlive);
  }

  end(): void {
    this.reply.raw.end();
  }

  /** The response's own `cork` would join the frames to one chunk. */
  #cork(): void {
    const { socket } = this.reply.raw;
    if (this.#corked || !socket) return;
    this.#corked = socket;
    socket.cork();
    setImmediate(() => {
      this.#corked = undefined;
      socket.uncork();
    });
  }

  #sayNothing(): void {
    const { raw } = this.reply;
    if (raw.destroyed || raw.writableNeedDrain) return;
    try {
      this.open();
    } catch {
      // The next frame reports that the head cannot be written.
      return this.stop();
    }
    raw.write(keepAlive);
  }
}

function writeHead(reply: FastifyReply, { contentType = eventStream, beforeHead }: StreamOptions): void {
  beforeHead?.();
  reply.hijack();
  const inherited = Object.entries(reply.getHeaders()).filter((entry) => entry[1] !== undefined);
  reply.raw.writeHead(200, {
    // A process that is stopping has set `close`.
    connection: 'keep-alive',
    ...(Object.fromEntries(inherited) as Record<string, string>),
    'content-type': contentType,
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
  });
}

function drained(reply: FastifyReply): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      reply.raw.off('drain', done);
      reply.raw.off('close', done);
      resolve();
    };
    reply.raw.on('drain', done);
    reply.raw.on('close', done);
  });
}
