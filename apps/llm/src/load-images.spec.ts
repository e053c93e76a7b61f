import { ImageBudget, type ChatMessage } from '#platform/contracts';
import { describe, expect, it } from 'vitest';
import { assertImages, loadImages } from './load-images.js';

/** What lies in the store: so many bytes as the id says, in pieces of 4. */
const objects = {
  async *get(id: string) {
    for (let left = Number(id); left > 0; left -= 4)
      yield await Promise.resolve(new Uint8Array(Math.min(4, left)));
  },
};

const stored = (size: number, param: string) => ({
  file: { objectId: String(size), filename: 'image', mimeType: 'image/png', bytes: 1 },
  param,
});
const shown = (...images: ChatMessage['images'] & object): ChatMessage => ({
  role: 'user',
  content: '',
  images,
});

describe('loadImages', () => {
  it('puts the images of the store into the messages', async () => {
    const loaded = await loadImages([{ role: 'system', content: 'a' }, shown(stored(3, 'p'))], objects);
    expect(loaded).toEqual([
      { role: 'system', content: 'a' },
      shown({ url: 'data:image/png;base64,AAAA', param: 'p' }),
    ]);
  });

  it('keeps one total over all messages, of what comes rather than what is said of it', async () => {
    const messages = [shown(stored(6, 'a')), shown(stored(5, 'b'))];
    const budget = (bytes: number) => new ImageBudget({ images: 9, bytes });
    expect(await loadImages(messages, objects, budget(11))).toHaveLength(2);
    await expect(loadImages(messages, objects, budget(10))).rejects.toMatchObject({
      code: 'payload_too_large',
      param: 'b',
    });
  });
});

describe('assertImages', () => {
  it('refuses more images than a request may have', () => {
    const messages = Array.from({ length: 33 }, (_, index) => shown({ url: 'data:', param: `m${index}` }));
    expect(() => assertImages(messages.slice(1), ['text', 'image'])).not.toThrow();
    expect(() => assertImages(messages, ['text', 'image'])).toThrow(
      expect.objectContaining({ code: 'invalid_request', param: 'm32' }),
    );
  });
});
