import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { DocumentBlock } from '../reading/parsed-document.js';
import { chunkDocument, type DocumentChunk } from './chunk-document.js';
import { countWords } from './text-units.js';

const word = fc.stringMatching(/^[a-zA-Zé中文。,.;:()–-]{1,12}$/u);
const sentence = fc.array(word, { minLength: 1, maxLength: 40 }).map((words) => words.join(' ') + '.');
const text = fc.array(sentence, { minLength: 1, maxLength: 6 }).map((sentences) => sentences.join(' '));
const block: fc.Arbitrary<DocumentBlock> = fc.oneof(
  fc.record({ kind: fc.constant('heading' as const), level: fc.integer({ min: 1, max: 4 }), text: sentence }),
  fc.record({
    kind: fc.constantFrom('paragraph' as const, 'list-item' as const, 'table-row' as const),
    text,
  }),
  fc.record({
    kind: fc.constant('code' as const),
    text: fc.array(sentence, { minLength: 1 }).map((lines) => lines.join('\n')),
  }),
);
const blocks = fc.array(block, { maxLength: 20 });
const options = fc.record({
  chunkSize: fc.integer({ min: 10, max: 60 }),
  chunkOverlap: fc.integer({ min: 0, max: 30 }),
});

const letters = (value: string) => value.replaceAll(/\s+/g, '');

const row = (index: number): DocumentBlock => ({
  kind: 'table-row',
  text: `a: ${index}. B: x; c: y`,
  page: index,
});

/** The chunks' texts, each with those of its headings that the chunk before it did not have. */
function readInOrder(chunks: DocumentChunk[]): string {
  let before: string[] = [];
  return chunks
    .map(({ headings, text }) => {
      const shared = headings.findIndex((heading, index) => heading !== before[index]);
      const fresh = shared === -1 ? [] : headings.slice(shared);
      before = headings;
      return [...fresh, text].join(' ');
    })
    .join(' ');
}

describe('chunkDocument', () => {
  it('never exceeds chunk_size', () => {
    fc.assert(
      fc.property(blocks, options, (blocks, options) => {
        for (const chunk of chunkDocument({ blocks }, options)) {
          expect(chunk.words).toBe(countWords(chunk.text));
          expect(chunk.words).toBeLessThanOrEqual(options.chunkSize);
          expect(chunk.words).toBeGreaterThan(0);
        }
      }),
    );
  });

  it('holds every word of the document once and in order when nothing overlaps', () => {
    const uniqueHeadings = blocks.map((list) =>
      list.map((item, index) =>
        item.kind === 'heading' ? { ...item, text: `${index} ${item.text}` } : item,
      ),
    );
    fc.assert(
      fc.property(uniqueHeadings, fc.integer({ min: 10, max: 60 }), (blocks, chunkSize) => {
        const chunks = chunkDocument({ blocks }, { chunkSize, chunkOverlap: 0 });
        expect(letters(readInOrder(chunks))).toBe(letters(blocks.map((block) => block.text).join(' ')));
      }),
    );
  });

  it('repeats the end of the chunk before, in whole sentences and within the budget', () => {
    const sentences = Array.from(
      { length: 12 },
      (_unused, index) => `Sentence number ${index} has six words.`,
    );
    const document = { blocks: [{ kind: 'paragraph' as const, text: sentences.join(' ') }] };
    const chunks = chunkDocument(document, { chunkSize: 20, chunkOverlap: 7 });
    chunks.slice(1).forEach((chunk, index) => {
      const lastSentence = chunks[index]?.text.match(/Sentence number \d+ has six words\.$/)?.[0] ?? 'none';
      expect(chunk.text.startsWith(lastSentence)).toBe(true);
    });
    expect(new Set(chunks.flatMap((chunk) => chunk.text.match(/\d+/g))).size).toBe(12);
  });

  it('never crosses a heading and keeps the path of headings', () => {
    const chunks = chunkDocument(
      {
        blocks: [
          { kind: 'heading', level: 1, text: 'Guide' },
          { kind: 'heading', level: 2, text: 'Install' },
          { kind: 'paragraph', text: 'Run npm ci.' },
          { kind: 'heading', level: 2, text: 'Later' },
          { kind: 'heading', level: 2, text: 'Use' },
          { kind: 'paragraph', text: 'Ask a question.' },
        ],
      },
      { chunkSize: 90, chunkOverlap: 20 },
    );
    expect(chunks.map(({ headings, text }) => [...headings, text])).toEqual([
      ['Guide', 'Install', 'Run npm ci.'],
      ['Guide', 'Later'],
      ['Guide', 'Use', 'Ask a question.'],
    ]);
  });

  it('evens out the lengths instead of leaving a stub', () => {
    const text = Array.from({ length: 11 }, () => 'One two three four five six seven eight nine ten.').join(
      ' ',
    );
    const chunks = chunkDocument(
      { blocks: [{ kind: 'paragraph', text }] },
      { chunkSize: 100, chunkOverlap: 0 },
    );
    expect(chunks.map(({ words }) => words)).toEqual([60, 50]);
  });

  it('keeps rows and list items whole and remembers the pages', () => {
    const chunks = chunkDocument({ blocks: [1, 2, 3].map(row) }, { chunkSize: 13, chunkOverlap: 0 });
    expect(chunks.map(({ text, page, pageBreaks }) => ({ text, page, pageBreaks }))).toEqual([
      { text: 'a: 1. B: x; c: y\n\na: 2. B: x; c: y', page: 1, pageBreaks: '18:2' },
      { text: 'a: 3. B: x; c: y', page: 3, pageBreaks: undefined },
    ]);
    expect(chunks[0]?.text.slice(18)).toBe('a: 2. B: x; c: y');
  });

  it('says which chunks begin within a block', () => {
    const paragraph = (text: string) => ({ kind: 'paragraph' as const, text });
    const long = Array.from({ length: 4 }, (_unused, index) => `Sentence number ${index} has six words.`);
    const chunks = chunkDocument(
      { blocks: [paragraph(long.join(' ')), paragraph('Another paragraph of six words now.')] },
      { chunkSize: 12, chunkOverlap: 0 },
    );
    expect(chunks.map(({ continues = false }) => continues)).toEqual([false, true, false]);
  });

  it('cuts a sentence that is too long at its clauses, never within a number', () => {
    const sentence = 'First clause has five words, second costs 1,000 euros here, third one ends it all now.';
    const chunks = chunkDocument(
      { blocks: [{ kind: 'paragraph', text: sentence }] },
      { chunkSize: 10, chunkOverlap: 0 },
    );
    expect(chunks.map(({ text }) => text)).toEqual([
      'First clause has five words, second costs 1,000 euros here,',
      'third one ends it all now.',
    ]);
  });
});
