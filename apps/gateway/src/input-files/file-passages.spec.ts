import { describe, expect, it } from 'vitest';
import { passagesOf } from './file-passages.js';

const read = (filename: string, text: string) =>
  passagesOf({ filename, text }).map((passage) => ({ text: passage.text, ...passage.metadata }));

describe('passagesOf', () => {
  it('names the file in each passage, with an id that no document has', () => {
    const [one, two, ...others] = passagesOf({
      filename: 'a.txt',
      text: `${'One. '.repeat(90)}\n\n${'Two. '.repeat(90)}`,
    });
    expect(others).toEqual([]);
    expect(one?.metadata).toMatchObject({ filename: 'a.txt', chunk_index: 0, attached: true });
    expect(one?.metadata['document_id']).toMatch(/^attached-/);
    expect(two?.metadata['document_id']).toBe(one?.metadata['document_id']);
    expect(two?.id).not.toBe(one?.id);
    const [stored] = passagesOf({ filename: 'a.txt', id: 'file-1', text: 'One.' });
    expect(stored?.metadata['document_id']).toBe('file-1');
    const [linked] = passagesOf({ filename: 'a.txt', url: 'https://a.example/a.txt', text: 'One.' });
    expect(linked?.metadata['source']).toBe('https://a.example/a.txt');
  });

  it('keeps paragraphs together as long as they fit, and every word', () => {
    const paragraphs = Array.from(
      { length: 30 },
      (_unused, index) => `Paragraph ${index} ${'goes on '.repeat(9)}ends.`,
    );
    const passages = read('a.txt', paragraphs.join('\n\n'));
    expect(passages.length).toBeGreaterThan(4);
    expect(passages.map(({ text }) => text).join('\n\n')).toBe(paragraphs.join('\n\n'));
    for (const { text } of passages) expect(text.length).toBeLessThanOrEqual(500);
  });

  it('divides a long paragraph between sentences, and a long sentence anywhere', () => {
    const long = 'This sentence has some words. '.repeat(40).trim();
    for (const { text } of read('a.txt', long)) expect(text).toMatch(/^This .*words\.$/s);
    const endless = 'x'.repeat(1_300);
    expect(
      read('a.txt', endless)
        .map(({ text }) => text)
        .join(''),
    ).toBe(endless);
  });

  it('reads the headings, items, rows and code of Markdown', () => {
    const text = [
      '# Ferry',
      'It runs on juice.',
      '## Prices',
      '- Child: 2 EUR',
      '- Adult: 4 EUR',
      '| Day | Hour |',
      '|-----|------|',
      '| Monday | 8 am |',
      '```sh',
      '# start it',
      '',
      'ferry --start',
      '```',
    ].join('\n');
    expect(read('ferry.md', text)).toMatchObject([
      { heading: 'Ferry', blocks: 'p', text: 'It runs on juice.' },
      {
        heading: 'Ferry > Prices',
        blocks: 'iirrc',
        text: 'Child: 2 EUR\n\nAdult: 4 EUR\n\nDay | Hour\n\nMonday | 8 am\n\n# start it\nferry --start',
      },
    ]);
  });

  it('keeps headings without a text below them', () => {
    const passages = read('plan.md', '# Plan\n## Monday\n## Tuesday\nRest.\n## Friday');
    expect(passages).toMatchObject([
      { heading: 'Plan', text: 'Monday' },
      { heading: 'Plan > Tuesday', text: 'Rest.' },
      { heading: 'Plan', text: 'Friday' },
    ]);
  });

  it('keeps each field of a form apart, and comments of other files', () => {
    expect(read('invoice.txt', 'Invoice 17\nCustomer: Zorp\nTotal: 420 EUR\n# paid')).toMatchObject([
      { blocks: 'ppp', text: 'Invoice 17\n\nCustomer: Zorp\n\nTotal: 420 EUR\n# paid' },
    ]);
  });

  it('finds nothing in an empty file', () => {
    expect(read('a.txt', ' \n\n')).toEqual([]);
  });
});
