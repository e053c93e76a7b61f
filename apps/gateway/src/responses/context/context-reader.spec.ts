import { randomBytes } from 'node:crypto';
import { ImageBudget } from '#platform/contracts';
import { Sealer } from '#api/responses';
import { describe, expect, it, vi } from 'vitest';
import { FileContents } from '../../files/files.module.js';
import { ContextReader } from './context-reader.js';
import { InputFiles } from '../../input-files/input-files.js';

const png = Buffer.from('89504e470d0a1a0a', 'hex');

/** A reader of stored files that all have this content. */
function readerOf(content: Uint8Array) {
  const read = vi.fn<() => Promise<Uint8Array>>(() => Promise.resolve(content));
  const repository = {
    find: () => Promise.resolve({ filename: 'a', mimeType: 'text/html', bytes: content.length }),
    content: async function* () {
      yield await read();
    },
  };
  const environment = { UPLOAD_FILE_LIMIT_BYTES: 1_000 } as never;
  const files = new InputFiles(new FileContents(repository as never), {} as never, {} as never, environment);
  return { reader: new ContextReader({} as Sealer, files), read };
}

const image = (fields: object) => ({
  type: 'message',
  id: 'm',
  role: 'user',
  content: [{ type: 'input_image', ...fields }],
});
const options = (limits?: { images: number; bytes: number }) => ({
  owner: 'o',
  path: 'input',
  images: 'take' as const,
  budget: new ImageBudget(limits),
  call: {} as never,
});

describe('images of a request', () => {
  it('get the type that their bytes have, whatever their sender calls it', async () => {
    const [item] = await readerOf(png).reader.read([image({ file_id: 'f' })], options());
    expect(item).toMatchObject({
      content: [{ image_url: `data:image/png;base64,${png.toString('base64')}` }],
    });
    const other = readerOf(Buffer.from('<html>')).reader;
    await expect(other.read([image({ file_id: 'f' })], options())).rejects.toMatchObject({
      code: 'unsupported_file',
      param: 'input[0].content[0].file_id',
    });
  });

  it('are bounded in all, and no file is read that is beyond', async () => {
    const { reader, read } = readerOf(png);
    const inline = image({ image_url: `data:image/png;base64,${png.toString('base64')}` });
    const twice = image({ file_id: 'f' });
    // 9 bytes as far as its length tells, then 8 and 8.
    const limits = { images: 9, bytes: 24 };
    await expect(reader.read([inline, twice, twice], options(limits))).rejects.toMatchObject({
      code: 'payload_too_large',
      param: 'input[2].content[0].file_id',
    });
    expect(read).toHaveBeenCalledTimes(1);
  });

  it('are bounded in number, those at an address too, over all that is read of a request', async () => {
    const shared = options({ images: 2, bytes: 100 });
    const { reader } = readerOf(png);
    const earlier = [image({ file_id: 'f' }), image({ image_url: 'https://example.org/a.png' })];
    await reader.read(earlier, { ...shared, path: 'context' });
    await expect(
      reader.read([image({ image_url: 'https://example.org/b.png' })], shared),
    ).rejects.toMatchObject({
      code: 'invalid_request',
      param: 'input[0].content[0]',
    });
  });
});

describe('sealed items of a request', () => {
  const sealer = new Sealer([randomBytes(32)]);
  const reader = new ContextReader(sealer, {} as InputFiles);
  const compaction = (characters: number) => ({
    type: 'compaction',
    id: 'c',
    encrypted_content: sealer.seal(
      { kind: 'compaction', owner: 'o' },
      JSON.stringify({
        items: [{ type: 'message', id: 'm', role: 'developer', content: 'x'.repeat(characters) }],
        covers: [],
      }),
    ),
  });

  it('are a bounded number of compactions', async () => {
    const small = compaction(10);
    expect(await reader.read(Array(8).fill(small), options())).toHaveLength(8);
    await expect(reader.read(Array(9).fill(small), options())).rejects.toThrow(
      /input\[8\]: at most 8 compactions/,
    );
  });

  it('unfold to a bounded number of bytes together', async () => {
    const large = compaction(9_000_000);
    expect(large.encrypted_content.length).toBeLessThan(20_000);
    expect(await reader.read([large, large], options())).toHaveLength(2);
    await expect(reader.read(Array(4).fill(large), options())).rejects.toMatchObject({
      code: 'payload_too_large',
    });
  });
});
