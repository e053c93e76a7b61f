import { expect, it } from 'vitest';
import { outputOf, shownImages } from './mcp-calls.js';

const png = Buffer.from('89504e470d0a1a0a', 'hex').toString('base64');
const image = (data: string, mimeType = 'image/png') => ({ type: 'image' as const, data, mimeType });

it('names images in the text of a result, and shows those that a model can read by their content', () => {
  const result = {
    content: [{ type: 'text' as const, text: 'Look:' }, image(png, 'image/x-odd'), image('AAAA')],
  };
  expect(outputOf(result)).toBe('Look:\n[image: image/x-odd]\n[image: image/png]');
  expect(shownImages(result)).toEqual([{ url: `data:image/png;base64,${png}` }]);
});

it('shows four images of a result at most', () => {
  expect(shownImages({ content: Array.from({ length: 9 }, () => image(png)) })).toHaveLength(4);
});
