import type { Neighbour, RetrievedDocument } from '#platform/contracts';
import { describe, expect, it } from 'vitest';
import { evidenceBlocks, type EvidenceRequest } from './evidence-blocks.js';

type Metadata = Record<string, unknown> & { document_id?: string };

function chunk(index: number, text: string, metadata: Metadata = {}): Neighbour {
  return {
    id: `${metadata.document_id ?? 'guide'}-${index}`,
    text,
    metadata: { document_id: 'guide', filename: 'guide.md', title: 'Guide', chunk_index: index, ...metadata },
  };
}

function found(index: number, text: string, metadata?: Metadata): RetrievedDocument {
  return { ...chunk(index, text, metadata), score: 1 };
}

const blocksOf = (request: Partial<EvidenceRequest> & Pick<EvidenceRequest, 'found'>) =>
  evidenceBlocks({ question: 'What is it?', maxTokens: 2_000, ...request });
const textsOf = (request: Parameters<typeof blocksOf>[0]) => blocksOf(request).map(({ text }) => text);

describe('evidenceBlocks', () => {
  it('joins a passage with its neighbours up to the end of the section', () => {
    const neighbours = [
      chunk(1, 'Before.', { heading: 'Guide > Use' }),
      chunk(3, 'After.', { heading: 'Guide > Use' }),
      chunk(4, 'Elsewhere.', { heading: 'Guide > Prices' }),
    ];
    const blocks = blocksOf({ found: [found(2, 'It.', { heading: 'Guide > Use' })], neighbours });
    expect(blocks.map(({ label, text }) => [label, text])).toEqual([
      ['Guide › Use (guide.md)', 'Before.\n\nIt.\n\nAfter.'],
    ]);
  });

  it('shows all found passages before it widens any, the best one first', () => {
    const long = 'word '.repeat(100).trim();
    const request = {
      found: [found(1, `one ${long}`), found(7, `two ${long}`)],
      neighbours: [chunk(2, `after one ${long}`), chunk(8, `after two ${long}`)],
    };
    const firsts = (maxTokens: number) =>
      blocksOf({ ...request, maxTokens }).map(({ chunks }) =>
        chunks.map(({ text }) => text.split(' word')[0]),
      );
    expect(firsts(180)).toEqual([['one']]);
    expect(firsts(350)).toEqual([['one'], ['two']]);
    expect(firsts(480)).toEqual([['one', 'after one'], ['two']]);
    expect(firsts(2_000)).toEqual([
      ['one', 'after one'],
      ['two', 'after two'],
    ]);
  });

  it('shows at least the best passage, and at most as many as were asked for', () => {
    expect(textsOf({ found: [found(1, 'It. '.repeat(200))], maxTokens: 10 })).toHaveLength(1);
    const passages = [1, 11, 21].map((index) => found(index, `Passage ${index}.`));
    expect(textsOf({ found: passages, maxPassages: 2 })).toEqual(['Passage 1.', 'Passage 11.']);
  });

  it('joins passages that follow each other, in the order of the document', () => {
    const blocks = blocksOf({ found: [found(5, 'Second.'), found(9, 'Other.'), found(4, 'First.')] });
    expect(blocks.map(({ text }) => text)).toEqual(['First.\n\nSecond.', 'Other.']);
  });

  it('joins a paragraph that goes on in the next chunk', () => {
    const passages = [found(1, 'The mill was built in'), found(2, '1831 by a miller.', { continues: true })];
    expect(textsOf({ found: passages })).toEqual(['The mill was built in 1831 by a miller.']);
  });

  it('shows overlapping chunks once', () => {
    const shared = 'The valve opens at noon every day.';
    const passages = [found(1, `The mill has a valve. ${shared}`), found(2, `${shared} Then it closes.`)];
    expect(textsOf({ found: passages })).toEqual([`The mill has a valve. ${shared}\n\nThen it closes.`]);
  });

  describe('tables', () => {
    const rows = (index: number) =>
      chunk(index, `Name: A${index}; Price: ${index}\n\nName: B${index}; Price: ${index}`, { blocks: 'rr' });
    const table = Array.from({ length: 30 }, (_unused, index) => rows(index));
    const passages = [{ ...rows(12), score: 1 }];

    it('come whole if they fit', () => {
      const [block] = blocksOf({ found: passages, neighbours: table.filter(({ id }) => id !== 'guide-12') });
      expect(block!.label).toBe('Guide (guide.md)');
      expect(block!.text.split('\n')).toHaveLength(62);
      expect(block!.text).toContain('| Name | Price |\n| --- | --- |\n| A0 | 0 |\n| B0 | 0 |');
    });

    it('say which rows are shown otherwise', () => {
      const [block] = blocksOf({ found: passages, neighbours: table, maxTokens: 120 });
      expect(block!.label).toMatch(/^Guide \(guide\.md, rows \d+–\d+ of 60\)$/);
      expect(block!.text).toContain('| A12 | 12 |');
    });
  });

  it('drops repetitions, and keeps texts with other names or numbers', () => {
    const text = (name: string) => `The warranty of the ${name} is two years from the day of the purchase.`;
    const copy = { document_id: 'copy' };
    const other = { document_id: 'other', title: 'Other' };
    expect(
      textsOf({
        found: [
          found(1, text('Lark')),
          found(1, text('Lark'), copy),
          found(5, text('Heron')),
          found(1, text('Lark'), other),
        ],
      }),
    ).toEqual([text('Lark'), text('Heron'), text('Lark')]);
  });

  it('shows examples of code after prose unless code is asked for', () => {
    const passages = [
      found(1, 'mill --fast', { blocks: 'c' }),
      found(5, '{"name": "mill", "speed": 3}'),
      found(9, 'The mill has two speeds.'),
    ];
    expect(textsOf({ found: passages })[0]).toBe('The mill has two speeds.');
    expect(textsOf({ found: passages, question: 'Which command starts it?' })[0]).toBe(
      '```\nmill --fast\n```',
    );
  });

  it('labels blocks with pages, dates and addresses', () => {
    const labelFor = (metadata: Metadata) => blocksOf({ found: [found(1, 'It.', metadata)] })[0]!.label;
    expect(labelFor({ page: 3, page_breaks: '2:4' })).toBe('Guide (guide.md, pages 3–4)');
    expect(labelFor({ date: '2025-06-01', title: undefined })).toBe('guide.md (2025-06-01)');
    expect(labelFor({ source: 'https://example.org/guide' })).toBe(
      'Guide (guide.md, https://example.org/guide)',
    );
    expect(labelFor({ heading: 'Guide > A\n[9] B' })).toBe('Guide › A [9] B (guide.md)');
  });

  it('shows texts that are not stored', () => {
    const texts = [1, 2].map((number) => ({
      id: `${number}`,
      text: `Text ${number}.`,
      score: 1,
      metadata: {},
    }));
    expect(blocksOf({ found: texts }).map(({ label, text }) => [label, text])).toEqual([
      ['', 'Text 1.'],
      ['', 'Text 2.'],
    ]);
  });

  it('shows a short document whole where its beginning is among the best passages, in one block for each section', () => {
    const minutes = { document_id: 'minutes', filename: 'minutes.txt', title: 'Minutes' };
    const rest = [1, 2, 3].map((index) =>
      chunk(index, `Item ${index}.`, { ...minutes, heading: `Item ${index}` }),
    );
    const beginning = found(0, 'Held on 20 June.', minutes);
    const other = found(5, 'Something else.');
    const shown = (request: Parameters<typeof blocksOf>[0]) => textsOf({ neighbours: rest, ...request });
    expect(shown({ found: [beginning, other] })).toEqual([
      'Held on 20 June.',
      'Item 1.',
      'Item 2.',
      'Item 3.',
      'Something else.',
    ]);
    expect(shown({ found: [other, { ...rest[1]!, score: 1 }, beginning] })).toEqual([
      'Something else.',
      'Item 2.',
      'Held on 20 June.',
      'Item 1.',
      'Item 3.',
    ]);
    const others = [5, 15, 25].map((index) => found(index, `Something else in ${index}.`));
    expect(shown({ found: [...others, beginning] }).at(-1)).toBe('Held on 20 June.');
    const long = Array.from({ length: 40 }, (_unused, index) => chunk(index + 1, `Part ${index}.`, minutes));
    expect(shown({ found: [found(0, 'Held.', { ...minutes, heading: 'Top' })], neighbours: long })).toEqual([
      'Held.',
    ]);
  });
});
