import { expect, it } from 'vitest';
import { ProgressBar } from './ingest-folder.js';

function barOf(isTTY: boolean, total: number) {
  const written: string[] = [];
  const target = { isTTY, columns: 60, write: (text: string) => written.push(text) };
  return { bar: new ProgressBar(target, total), written };
}

it('draws in place on a terminal, and never goes back', () => {
  const { bar, written } = barOf(true, 2);
  bar.draw(0, 0.5, 'a.txt');
  bar.draw(1, 0, 'b.txt');
  bar.draw(0, 0, 'a.txt');
  expect(written.map((text) => text.replaceAll(/[^#]/g, '').length)).toEqual([6, 12, 12]);
  expect(written[0]).toMatch(/^\r.*0 of 2 {2}a\.txt$/);
});

it('writes a line for each tenth elsewhere', () => {
  const { bar, written } = barOf(false, 1);
  for (let share = 0; share <= 1; share += 0.01) bar.draw(0, share, 'a.txt');
  expect(written).toHaveLength(10);
});
