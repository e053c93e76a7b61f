import type { ChatMessage, FileReference } from '#platform/contracts';
import { describe, expect, it, vi } from 'vitest';
import { ImageStore } from './image-store.js';

const megabyte = 1024 * 1024;

describe('ImageStore', () => {
  it('stores images up to one total, and deletes them again', async () => {
    const stored = new Set<string>();
    const objects = {
      put: vi.fn<(bytes: Uint8Array) => Promise<FileReference>>((bytes) => {
        const objectId = `o${stored.size}`;
        stored.add(objectId);
        return Promise.resolve({ objectId, filename: 'image', mimeType: 'image/png', bytes: bytes.length });
      }),
      delete: (id: string) => Promise.resolve(stored.delete(id)),
    };
    const environment = { UPLOAD_FILE_LIMIT_BYTES: 64 * megabyte };
    const store = new ImageStore(objects as never, environment as never);
    const png = Buffer.alloc(24 * megabyte);
    png.write('89504e470d0a1a0a', 'hex');
    const url = `data:image/png;base64,${png.toString('base64')}`;
    const messages = ['a', 'b', 'c'].map((param) => ({
      role: 'user' as const,
      content: '',
      images: [{ url, param }],
    }));
    const answer = vi.fn<(lent: ChatMessage[]) => AsyncGenerator<ChatMessage>>(async function* (lent) {
      yield* await Promise.resolve(lent);
    });
    const chunks = store.lend(messages, {}, answer);
    await expect(chunks.next()).rejects.toMatchObject({ code: 'payload_too_large', param: 'c' });
    expect(objects.put).toHaveBeenCalledTimes(2);
    expect(answer).not.toHaveBeenCalled();
    expect(stored.size).toBe(0);
    const two = store.lend(messages.slice(0, 2), {}, answer);
    expect((await two.next()).value).toMatchObject({ images: [{ file: { objectId: 'o0' }, param: 'a' }] });
    expect(stored.size).toBe(2);
    await two.return(undefined);
    expect(stored.size).toBe(0);
  });
});
