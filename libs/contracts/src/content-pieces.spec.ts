import { describe, expect, it } from 'vitest';
import { joinPieces, piecesOf, type ContentPiece } from './content-pieces.js';

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
