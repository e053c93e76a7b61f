import type { ObjectDescription, ObjectStore } from '#platform/messaging';
import type { FastifyRequest } from 'fastify';
import { describe, expect, it } from 'vitest';
import { cleanPath, receiveForm } from './multipart-form.js';

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

async function textOf(content: Uint8Array | AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  if (content instanceof Uint8Array) pieces.push(content);
  else for await (const piece of content) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

const small = (filename: string): Part => ({ filename, pieces: ['some ', 'text'] });

it('stores small files together, and keeps their order', async () => {
  const contents: string[] = [];
  const store = storeOf(async (_name, content) => {
    contents.push(await textOf(content));
    return contents.at(-1)!.length;
  });
  const large = { filename: 'large', pieces: ['x'.repeat(70_000)] };
  const { request } = formOf([small('a'), { filename: 'b', pieces: ['other'] }, large, small('c')]);
  const { files } = await receiveForm(request, store, limits);
  expect(files).toEqual([
    { objectId: 'a', filename: 'a', mimeType: 'text/plain', bytes: 9, offset: 0 },
    { objectId: 'a', filename: 'b', mimeType: 'text/plain', bytes: 5, offset: 9 },
    { objectId: 'large', filename: 'large', mimeType: 'text/plain', bytes: 70_000 },
    { objectId: 'a', filename: 'c', mimeType: 'text/plain', bytes: 9, offset: 14 },
  ]);
  expect(contents).toEqual(['x'.repeat(70_000), 'some textothersome text']);
});

it('stores a small file that is alone as it is', async () => {
  const store = storeOf(async (_name, content) => (content as Uint8Array).length);
  const { files } = await receiveForm(formOf([small('a')]).request, store, limits);
  expect(files).toEqual([{ objectId: 'a', filename: 'a', mimeType: 'text/plain', bytes: 9 }]);
});

it('has a few objects of small files in memory at most', async () => {
  let [now, most, objects] = [0, 0, 0];
  const store = storeOf(async (_name, content) => {
    most = Math.max(most, ++now);
    objects += 1;
    expect((content as Uint8Array).length).toBeLessThan(600_000);
    await new Promise((resolve) => setImmediate(resolve));
    now -= 1;
    return 9;
  });
  const parts = Array.from({ length: 60 }, (_unused, index) => ({
    filename: `${index}`,
    pieces: ['x'.repeat(60_000)],
  }));
  const wide = { maxFiles: 60, maxFileBytes: 1_000_000, maxBytes: 10_000_000 };
  expect((await receiveForm(formOf(parts).request, store, wide)).files).toHaveLength(60);
  expect(objects).toBe(7);
  expect(most).toBeLessThanOrEqual(2);
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
    if (name === 'second') throw new Error('no room');
    return 9;
  });
  const large = (filename: string) => ({ filename, pieces: ['x'.repeat(70_000)] });
  const { request } = formOf([large('first'), small('a'), large('second'), small('b')]);
  await expect(receiveForm(request, store, limits)).rejects.toThrow('no room');
  expect(store.deleted).toEqual(['first']);
});

it('fails where small files cannot be stored', async () => {
  const store = storeOf(() => Promise.reject(new Error('no room')));
  const { request } = formOf([small('a'), small('b')]);
  await expect(receiveForm(request, store, limits)).rejects.toThrow('no room');
});

it('names the file that is too large', async () => {
  const store = storeOf(async (_name, content) => (await textOf(content)).length);
  const large = { filename: 'large', pieces: ['x'.repeat(1_000_001)] };
  const { request } = formOf([small('a'), large]);
  await expect(receiveForm(request, store, limits)).rejects.toMatchObject({
    code: 'payload_too_large',
    param: 'files[1]',
  });
  expect(store.deleted).toEqual([]);
});

describe('cleanPath', () => {
  it('leaves out what a reader of the name does not see', () => {
    expect(cleanPath('folder/invoice\u202Efdp.exe')).toBe('folder/invoicefdp.exe');
    expect(cleanPath('\u202AC:\\files\\a\u200B.txt')).toBe('a.txt');
  });
});
