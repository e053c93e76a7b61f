import { MegaNestError } from '#contracts';
import type { FastifyReply } from 'fastify';
import { sendError } from './error.filter.js';

/** Frames of a server-sent event stream, as text that ends in a blank line. */
export type Frames = AsyncIterable<string>;

/** Options of the head of a stream. */
export interface StreamHead {
  contentType?: string;
  /** Sets headers that are known with the first frame. */
  beforeHead?: () => void;
}

const eventStream = 'text/event-stream; charset=utf-8';
/** Characters that are written without waiting for the end of the turn. */
const longestWait = 65_536;

/**
 * Writes server-sent events; the frames of one turn of the event loop are one write. It sends the head with the first
 * frame, so that an error before it has its own status. An error after it becomes the frame of `onError`. It waits for
 * slow readers.
 */
export async function sendEventStream(
  reply: FastifyReply,
  frames: Frames,
  onError: (error: MegaNestError) => string,
  options: StreamHead = {},
): Promise<void> {
  const { raw } = reply;
  const writer = new FrameWriter(reply);
  try {
    for await (const frame of frames) {
      if (!raw.headersSent) writeHead(reply, options);
      if (raw.destroyed) return;
      await writer.write(frame);
    }
    if (!raw.headersSent) writeHead(reply, options);
  } catch (thrown) {
    const error = MegaNestError.from(thrown, 'gateway');
    if (!raw.headersSent && reply.sent) {
      // The head could not be written: an error cannot be sent.
      raw.destroy();
      return;
    }
    if (!raw.headersSent) return sendError(reply, error);
    if (!raw.destroyed) await writer.write(onError(error));
  }
  writer.end();
}

/** Collects frames until the turn of the event loop ends. */
class FrameWriter {
  #waiting = '';
  #ended = false;

  constructor(private readonly reply: FastifyReply) {}

  /** Resolves at once, or when a slow reader has read on. */
  async write(frame: string): Promise<void> {
    if (this.#waiting === '') setImmediate(() => this.#flush());
    this.#waiting += frame;
    if (this.#waiting.length > longestWait) this.#flush();
    if (this.reply.raw.writableNeedDrain) await drained(this.reply);
  }

  end(): void {
    this.#ended = true;
    this.reply.raw.end(this.#waiting);
  }

  #flush(): void {
    const text = this.#waiting;
    this.#waiting = '';
    if (text !== '' && !this.#ended && !this.reply.raw.destroyed) this.reply.raw.write(text);
  }
}

function writeHead(reply: FastifyReply, { contentType = eventStream, beforeHead }: StreamHead): void {
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
