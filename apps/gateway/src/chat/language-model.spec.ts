import type { FileReference, GenerationChunk } from '#contracts';
import { describe, expect, it, vi } from 'vitest';
import { LanguageModels } from './language-model.js';

const megabyte = 1024 * 1024;

describe('LanguageModels', () => {
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
    const client = new LanguageModels({} as never, objects as never, environment as never, {} as never);
    const png = Buffer.alloc(24 * megabyte);
    png.write('89504e470d0a1a0a', 'hex');
    const url = `data:image/png;base64,${png.toString('base64')}`;
    const messages = ['a', 'b', 'c'].map((param) => ({
      role: 'user' as const,
      content: '',
      images: [{ url, param }],
    }));
    const chunks: AsyncGenerator<GenerationChunk> = client.generate(
      { messages, parameters: {}, extra: {}, includeUsage: false },
      {} as never,
    );
    await expect(chunks.next()).rejects.toMatchObject({ code: 'payload_too_large', param: 'c' });
    expect(objects.put).toHaveBeenCalledTimes(2);
    expect(stored.size).toBe(0);
  });
});
