import { expect, it } from 'vitest';
import { describeImage } from './describe-image.js';

it.each([
  [
    { image_url: `data:image/png;base64,${Buffer.alloc(470).toString('base64')}` },
    '[image: image/png, 470 bytes]',
  ],
  [{ image_url: 'https://a.example/cat.png' }, '[image: https://a.example/cat.png]'],
  [{ file_id: 'file-1' }, '[image: file-1]'],
  [{}, '[image: without content]'],
])('describeImage of %j', (part, text) => {
  expect(describeImage(part)).toBe(text);
});
