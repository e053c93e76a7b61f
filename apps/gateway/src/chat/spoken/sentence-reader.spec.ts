import { expect, it } from 'vitest';
import { SentenceReader, spokenForm } from './sentence-reader.js';

it('gives a sentence when the next one begins, and the rest at the end', () => {
  const reader = new SentenceReader();
  const pieces = ['The gateway lis', 'tens. It', ' has a port. ', 'Dr. ', 'Who knows'];
  expect(pieces.flatMap((piece) => reader.push(piece)).join('|')).toBe(
    'The gateway listens. |It has a port. ',
  );
  expect(reader.finish()).toBe('Dr. Who knows');
  expect(reader.finish()).toBe('');
});

it.each([
  ['The port is 8888. [1]', 'The port is 8888.'],
  ['It is 8888 [1][2], see [3, 4].', 'It is 8888, see.'],
  ['## **Ports** and `HOST`', 'Ports and HOST'],
  ['- see [the page](https://example.org/a)', 'see the page'],
  ['a snake_case_name * 2', 'a snake_case_name  2'],
  ['[1]', ''],
])('reads %j as %j', (written, spoken) => {
  expect(spokenForm(written)).toBe(spoken);
});
