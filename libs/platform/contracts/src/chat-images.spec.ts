import { describe, expect, it } from 'vitest';
import { joinPieces, piecesOf, type ContentPiece, ImageBudget } from './chat-images.js';
import { MegaNestError } from './errors.js';

const image = (url: string) => ({ image: { url } });
const shape = (pieces: ContentPiece[]) => pieces.map(({ text, image: shown }) => text ?? { url: shown?.url });

describe('joinPieces and piecesOf', () => {
  it.each([
    [
      'text, image, text, image, text',
      [{ text: 'first:' }, image('a'), { text: 'second:' }, image('b'), { text: 'c' }],
    ],
    ['images first', [image('a'), image('b'), { text: 'compare' }]],
    ['images last', [{ text: 'look\n' }, image('a'), image('b')]],
    ['an image alone', [image('a')]],
    ['text alone', [{ text: 'a\nb' }]],
  ])('keep the order of %s', (_name, pieces) => {
    expect(shape(piecesOf(joinPieces(pieces)))).toEqual(shape(pieces));
  });

  it('give the text as lines', () => {
    expect(joinPieces([{ text: 'a' }, image('x'), { text: 'b' }]).content).toBe('a\nb');
  });

  it('put an image without a place, or with one that is no longer there, behind the text', () => {
    expect(shape(piecesOf({ content: 'a', images: [{ url: 'x' }, { url: 'y', at: 9 }] }))).toEqual([
      'a',
      { url: 'x' },
      { url: 'y' },
    ]);
  });
});

/** Reads as sources do: no more than they may. */
const source = (size: number) => (maxBytes: number) =>
  size <= maxBytes
    ? Promise.resolve(new Uint8Array(size))
    : Promise.reject(new MegaNestError('payload_too_large', { what: 'It', limit: `${maxBytes} bytes` }));

describe('ImageBudget', () => {
  it('takes so many images, and names the first one beyond', async () => {
    const budget = new ImageBudget({ images: 2, bytes: 100 });
    budget.add(0, 'a');
    await budget.load({ param: 'b' }, source(1));
    expect(() => budget.add(0, 'c')).toThrow(
      expect.objectContaining({ code: 'invalid_request', status: 400, param: 'c' }),
    );
    await expect(budget.load({ param: 'd' }, source(0))).rejects.toMatchObject({ param: 'd' });
  });

  it('keeps one total over what is there and what is read', async () => {
    const budget = new ImageBudget({ images: 9, bytes: 100 });
    budget.add(60, 'a');
    expect(await budget.load({ param: 'b', maxBytes: 50 }, source(40))).toHaveLength(40);
    await expect(budget.load({ param: 'c', maxBytes: 50 }, source(1))).rejects.toMatchObject({
      code: 'payload_too_large',
      message: 'The size of all images of the request together is larger than the limit of 100 bytes.',
      param: 'c',
    });
    expect(() => budget.add(1, 'd')).toThrow(
      expect.objectContaining({ code: 'payload_too_large', param: 'd' }),
    );
  });

  it('leaves the error of an image that is too large by itself', async () => {
    const budget = new ImageBudget({ images: 9, bytes: 100 });
    await expect(budget.load({ param: 'a', maxBytes: 50 }, source(51))).rejects.toThrow('It is larger');
  });

  it('takes 32 images of 64 MiB in all unless told otherwise', () => {
    const budget = new ImageBudget();
    for (let image = 0; image < 32; image++) budget.add(2 * 1024 * 1024, 'p');
    expect(() => budget.add(0, 'p')).toThrow('at most 32 images');
    expect(() => new ImageBudget().add(64 * 1024 * 1024 + 1, 'p')).toThrow('67108864 bytes');
  });
});
