import Fastify, { type FastifyInstance } from 'fastify';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { MegaNestError } from '#platform/contracts';
import { sendEventStream, type Frames, type StreamOptions } from './event-stream.js';

const frame = (index: number) => `data: ${index}\n\n`;
const keepAlive = ': keep-alive\n\n';
const onError = ({ code }: MegaNestError) => `data: ${code}\n\n`;

describe('sendEventStream', () => {
  let server: FastifyInstance | undefined;
  afterEach(() => server?.close());

  async function open(frames: () => Frames, options?: StreamOptions): Promise<IncomingMessage> {
    server = Fastify();
    server.get('/', (_request, reply) => sendEventStream(reply, frames(), onError, options));
    await server.listen({ port: 0, host: '127.0.0.1' });
    const { port } = server.server.address() as AddressInfo;
    const [response] = (await once(request({ port, host: '127.0.0.1' }).end(), 'response')) as [
      IncomingMessage,
    ];
    return response;
  }

  /** The chunks of the body; Node's parser reports each chunk of HTTP separately. */
  async function chunksOf(response: IncomingMessage): Promise<string[]> {
    const chunks: string[] = [];
    response.on('data', (data: Buffer) => chunks.push(data.toString()));
    await once(response, 'end');
    return chunks;
  }

  it('writes each frame as one chunk, also those of one turn of the event loop', async () => {
    const chunks = await chunksOf(
      await open(async function* () {
        for (let index = 0; index < 40; index += 1) {
          if (index % 8 === 0) await nextTurn();
          yield frame(index);
        }
      }),
    );
    expect(chunks).toEqual(Array.from({ length: 40 }, (_unused, index) => frame(index)));
  });

  it('waits for a reader that is slow', async () => {
    let written = 0;
    const total = 200;
    const long = `data: ${'x'.repeat(100_000)}\n\n`;
    const response = await open(async function* () {
      for (; written < total; written += 1) yield await Promise.resolve(long);
    });
    response.pause();
    await nextTurn();
    expect(written).toBeLessThan(total);
    response.setEncoding('utf8');
    let length = 0;
    response.on('data', (text: string) => (length += text.length));
    response.resume();
    await once(response, 'end');
    expect(length).toBe(total * long.length);
  });

  describe('in a silent stream', () => {
    beforeEach(() => {
      vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    });
    afterEach(() => {
      vi.useRealTimers();
    });

    /** Frames that come when they are sent, and the text that the client has read. */
    async function openSilent(options?: StreamOptions) {
      const source = new PassThrough({ objectMode: true });
      let begin: (() => void) | undefined;
      const begun = new Promise<void>((resolve) => (begin = resolve));
      async function* frames() {
        begin?.();
        for await (const text of source) yield text as string;
      }
      const response = open(frames, options);
      await begun;
      return { source, response };
    }

    it('sends a comment every 15 s, also before the first frame', async () => {
      const { source, response: opening } = await openSilent();
      vi.advanceTimersByTime(15_000);
      const response = await opening;
      expect(response.statusCode).toBe(200);
      expect(response.headers['content-type']).toContain('text/event-stream');
      expect(String((await once(response, 'data'))[0])).toBe(keepAlive);
      source.write(frame(1));
      expect(String((await once(response, 'data'))[0])).toBe(frame(1));
      vi.advanceTimersByTime(14_999);
      source.write(frame(2));
      expect(String((await once(response, 'data'))[0])).toBe(frame(2));
      vi.advanceTimersByTime(30_000);
      source.end(frame(3));
      expect(await chunksOf(response)).toEqual([keepAlive, keepAlive, frame(3)]);
      expect(vi.getTimerCount()).toBe(0);
    });

    it('reports an error after the first comment as a frame', async () => {
      const { source, response } = await openSilent();
      vi.advanceTimersByTime(15_000);
      const chunks = chunksOf(await response);
      source.destroy(new MegaNestError('bad_upstream', { service: 'llm', detail: 'it is gone' }));
      expect(await chunks).toEqual([keepAlive, 'data: bad_upstream\n\n']);
    });

    it('reports an error before the first comment by its status', async () => {
      const { source, response } = await openSilent();
      source.destroy(new MegaNestError('bad_upstream', { service: 'llm', detail: 'it is gone' }));
      expect((await response).statusCode).toBe(502);
      expect(vi.getTimerCount()).toBe(0);
    });

    it('sends nothing but frames where the client does not expect events', async () => {
      const { source, response } = await openSilent({ contentType: 'text/plain; charset=utf-8' });
      vi.advanceTimersByTime(60_000);
      source.end('done\n');
      expect(await chunksOf(await response)).toEqual(['done\n']);
    });
  });
});
