import { MegaNestError } from '#contracts';
import type { FastifyReply } from 'fastify';
import { sendError } from './error.filter.js';

/** Frames of a server-sent event stream, as text that ends in a blank line. */
export type Frames = AsyncIterable<string>;

/**
 * Writes server-sent events, one write a frame. The head is sent with the first frame, so that an error before it
 * still gets its own status; an error after it becomes the frame that `onError` makes. Waits for slow readers.
 */
export async function sendEventStream(
  reply: FastifyReply,
  frames: Frames,
  onError: (error: MegaNestError) => string,
): Promise<void> {
  const { raw } = reply;
  try {
    for await (const frame of frames) {
      if (!raw.headersSent) writeHead(reply);
      if (raw.destroyed) return;
      if (!raw.write(frame)) await drained(reply);
    }
    if (!raw.headersSent) writeHead(reply);
  } catch (thrown) {
    const error = MegaNestError.from(thrown, 'gateway');
    if (!raw.headersSent) return sendError(reply, error);
    if (!raw.destroyed) raw.write(onError(error));
  }
  raw.end();
}

function writeHead(reply: FastifyReply): void {
  reply.hijack();
  const inherited = Object.entries(reply.getHeaders()).filter((entry) => entry[1] !== undefined);
  reply.raw.writeHead(200, {
    ...(Object.fromEntries(inherited) as Record<string, string>),
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache, no-transform',
    connection: 'keep-alive',
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
