import { describe, expect, it } from 'vitest';
import type { DocumentBlock } from '../reading/parsed-document.js';
import { withoutContents } from './table-of-contents.js';

const item = (text: string): DocumentBlock => ({ kind: 'list-item', text });
const heading = (text: string): DocumentBlock => ({ kind: 'heading', level: 2, text });
const paragraph = (text: string): DocumentBlock => ({ kind: 'paragraph', text });
const body = ['What it is', 'How to use it', 'Storage'].flatMap((title, index) => [
  heading(`${index + 1}. ${title}`),
  paragraph(`Text ${index}.`),
]);

describe('withoutContents', () => {
  it.each([
    ['items', [item('What it is'), item('How to use it'), item('Storage')]],
    [
      'numbered lines with pages',
      [paragraph('1. What it is ..... 3'), paragraph('2. How to use it 4'), paragraph('3 Storage . . . 17')],
    ],
  ])('removes %s that repeat the headings after them', (_name, lines) => {
    expect(withoutContents([paragraph('Before.'), ...lines, ...body])).toEqual([
      paragraph('Before.'),
      ...body,
    ]);
  });

  it('keeps lists that have other words, that are short, or that follow the headings', () => {
    for (const blocks of [
      [item('What it is'), item('Price'), item('Storage'), ...body],
      [item('What it is'), item('Storage'), ...body],
      [...body, item('What it is'), item('How to use it'), item('Storage')],
    ])
      expect(withoutContents(blocks)).toEqual(blocks);
  });

  it('reads many lines', () => {
    const blocks = Array.from({ length: 100_000 }, (_, index) => item(`Line ${index % 7}`));
    expect(withoutContents(blocks)).toHaveLength(100_000);
  });
});
