import type { ObjectDescription, ObjectStore } from '#messaging';
import type { FastifyRequest } from 'fastify';
import { expect, it } from 'vitest';
import { receiveForm } from './multipart-form.js';

const limits = { maxFiles: 10, maxFileBytes: 1_000_000, maxBytes: 2_000_000 };

interface Part {
  filename: string;
  pieces: string[];
}

/** A request whose form has these files; it counts the pieces that were read. */
function formOf(parts: readonly Part[]) {
  const read = { pieces: 0 };
  const request = {
    raw: { unpipe: () => undefined, resume: () => undefined, readableAborted: false },
    parts: async function* () {
      for (const { filename, pieces } of parts) {
        const file = (async function* () {
          for (const piece of pieces) {
            read.pieces += 1;
            yield Buffer.from(piece);
          }
        })();
        yield { type: 'file', fieldname: 'files', filename, mimetype: 'text/plain', file };
        await Promise.resolve();
      }
    },
  };
  return { request: request as unknown as FastifyRequest, read };
}

/** A store that stores as `put` says. */
function storeOf(
  put: (name: string, content: Uint8Array | AsyncIterable<Uint8Array>) => Promise<number>,
): Pick<ObjectStore, 'put' | 'delete'> & { deleted: string[] } {
  const deleted: string[] = [];
  return {
    deleted,
    put: async (
      content: Uint8Array | AsyncIterable<Uint8Array>,
      { filename, mimeType }: ObjectDescription,
    ) => ({ objectId: filename, filename, mimeType, bytes: await put(filename, content) }),
    delete: async (id: string) => void deleted.push(id),
  };
}

const small = (filename: string): Part => ({ filename, pieces: ['some ', 'text'] });

it('stores a few small files at a time, and keeps their order', async () => {
  const begun: string[] = [];
  let release = () => {};
  const three = new Promise<void>((resolve) => (release = resolve));
  const store = storeOf(async (name, content) => {
    begun.push(name);
    if (begun.length === 3) release();
    await three;
    return (content as Uint8Array).length;
  });
  const { request } = formOf([small('a'), small('b'), small('c')]);
  const { files } = await receiveForm(request, store, limits);
  expect(files.map(({ filename, bytes }) => [filename, bytes])).toEqual([
    ['a', 9],
    ['b', 9],
    ['c', 9],
  ]);
});

it('has four of them in memory at most', async () => {
  let [now, most] = [0, 0];
  const store = storeOf(async () => {
    most = Math.max(most, ++now);
    await new Promise((resolve) => setImmediate(resolve));
    now -= 1;
    return 9;
  });
  const { request } = formOf(Array.from({ length: 10 }, (_unused, index) => small(`${index}`)));
  expect((await receiveForm(request, store, limits)).files).toHaveLength(10);
  expect(most).toBe(4);
});

it('streams a large file', async () => {
  const { request, read } = formOf([
    { filename: 'large', pieces: Array.from({ length: 20 }, () => 'x'.repeat(10_000)) },
  ]);
  let readBefore = 0;
  const store = storeOf(async (_name, content) => {
    readBefore = read.pieces;
    let bytes = 0;
    for await (const piece of content as AsyncIterable<Uint8Array>) bytes += piece.length;
    return bytes;
  });
  const { files } = await receiveForm(request, store, limits);
  expect(files).toMatchObject([{ filename: 'large', bytes: 200_000 }]);
  expect(readBefore).toBeLessThan(10);
});

it('removes what was stored, also what was under way, when one fails', async () => {
  const store = storeOf(async (name) => {
    await new Promise((resolve) => setImmediate(resolve));
    if (name === 'b') throw new Error('no room');
    return 9;
  });
  const { request } = formOf([small('a'), small('b'), small('c')]);
  await expect(receiveForm(request, store, limits)).rejects.toThrow('no room');
  expect(store.deleted.toSorted()).toEqual(['a', 'c']);
});

it('names the file that is too large', async () => {
  const store = storeOf(async () => 9);
  const large = { filename: 'large', pieces: ['x'.repeat(1_000_001)] };
  const { request } = formOf([small('a'), large]);
  await expect(receiveForm(request, store, limits)).rejects.toMatchObject({
    code: 'payload_too_large',
    param: 'files[1]',
  });
  expect(store.deleted).toEqual(['a']);
});
