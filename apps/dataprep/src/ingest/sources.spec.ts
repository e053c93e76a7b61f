import { ingest, MegaNestError } from '#platform/contracts';
import { expect, it } from 'vitest';
import { SourceReader } from './sources.js';

const away = () => new MegaNestError('service_unavailable', { service: 'nats', detail: 'timeout' });
const limits = { maxFileBytes: 100, linkTimeoutMs: 1_000, allowPrivateLinks: false };
const request = ingest.request.parse({
  files: [{ objectId: 'one', filename: 'a.txt', mimeType: 'text/plain', bytes: 5 }],
});

/** The first source of a request whose object is read by `get`. */
function sourceOf(get: () => AsyncGenerator<Uint8Array, void, void>) {
  const [source] = new SourceReader({ get }, limits).sourcesOf(request);
  return source!;
}

it('reads a file again whose store was away in the middle of it', async () => {
  let reads = 0;
  const source = sourceOf(async function* () {
    reads += 1;
    yield Buffer.from('he');
    if (reads === 1) throw away();
    yield Buffer.from('llo');
  });
  const { bytes } = await source.fetch(new AbortController().signal);
  expect(Buffer.from(bytes).toString()).toBe('hello');
  expect(reads).toBe(2);
});

it('does not wait for a file that is gone', async () => {
  let reads = 0;
  // oxlint-disable-next-line require-yield -- it fails before the first piece
  const source = sourceOf(async function* () {
    reads += 1;
    throw new MegaNestError('not_found', { what: 'The uploaded object one' });
  });
  await expect(source.fetch(new AbortController().signal)).rejects.toMatchObject({ code: 'not_found' });
  expect(reads).toBe(1);
});

it('reads an object that holds several files once, and again after a failure', async () => {
  let reads = 0;
  const reader = new SourceReader(
    {
      get: async function* () {
        reads += 1;
        if (reads === 1) throw away();
        yield Buffer.from('first');
        yield Buffer.from('second');
      },
    },
    { ...limits, maxFileBytes: 8 },
  );
  const file = { objectId: 'pack', mimeType: 'text/plain' };
  const sources = reader.sourcesOf(
    ingest.request.parse({
      files: [
        { ...file, filename: 'a.txt', offset: 0, bytes: 5 },
        { ...file, filename: 'b.txt', offset: 5, bytes: 6 },
        { ...file, filename: 'c.txt', offset: 6, bytes: 6 },
      ],
    }),
  );
  const fetch = async (index: number) => sources[index]!.fetch(new AbortController().signal);
  const fetched = await Promise.all([fetch(0), fetch(1)]);
  expect(fetched.map(({ bytes }) => Buffer.from(bytes).toString())).toEqual(['first', 'second']);
  expect(reads).toBe(2);
  await expect(fetch(2)).rejects.toThrow('c.txt is longer than its object');
});
