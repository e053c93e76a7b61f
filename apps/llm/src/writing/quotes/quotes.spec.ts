import type { RetrievedDocument } from '#platform/contracts';
import { documentTexts } from '#answers/questions';
import { describe, expect, it } from 'vitest';
import { quoteDifferences } from './quote-differences.js';
import { quoteSummary } from './quote-summary.js';

const passage = (id: string, file: string, text: string): RetrievedDocument => ({
  id,
  text,
  score: 1,
  metadata: { document_id: file, filename: file },
});

/** Unit vectors of the words of sentences: sentences with the same words are similar. */
function embed(texts: string[]) {
  const words = [...new Set(texts.flatMap((text) => text.toLowerCase().match(/\p{L}+/gu) ?? []))];
  const vectors = texts.map((text) => {
    const own = new Set(text.toLowerCase().match(/\p{L}+/gu));
    const vector = Float32Array.from(words, (word) => (own.has(word) ? 1 : 0));
    const length = Math.hypot(...vector) || 1;
    return vector.map((value) => value / length);
  });
  return Promise.resolve({ vectors, promptTokens: texts.length });
}

const { signal } = new AbortController();
const texts = documentTexts('en');

describe('quoteSummary', () => {
  it('quotes sentences of all passages in their order, each with its passage', async () => {
    const documents = Array.from({ length: 30 }, (_unused, index) =>
      passage(
        `c${index}`,
        'a.md',
        `The observatory opens room ${'abcdefghijklmnopqrstuvwxyzäöüß'[index]} for visitors.`,
      ),
    );
    const { answer, promptTokens } = await quoteSummary(documents, embed, signal, texts);
    expect(promptTokens).toBe(30);
    expect(answer.citations).toHaveLength(5);
    for (const { startIndex, endIndex, quote, documentId } of answer.citations) {
      expect(answer.text.slice(startIndex, endIndex)).toBe(quote);
      expect(documents.find(({ id }) => id === documentId)?.text).toContain(quote);
    }
    const places = answer.citations.map(({ documentId }) => Number(documentId.slice(1)));
    expect(places).toEqual(places.toSorted((one, other) => one - other));
  });
});

describe('quoteSummary of sections', () => {
  const inSection = (heading: string, ...sentences: string[]) =>
    sentences.map((text, index) => {
      const { metadata, ...rest } = passage(`${heading}${index}`, 'a.md', text);
      return { ...rest, metadata: { ...metadata, title: 'Club', heading: `Club > ${heading}` } };
    });

  it('has a sentence of each, with its heading', async () => {
    const documents = [
      ...inSection(
        'Fees',
        'The fee of the club for adults is 140 euros.',
        'The fee of the club for juniors is 60 euros.',
      ),
      ...inSection('Sauna', 'A builder begins with the work on 4 May.'),
      ...inSection('Water', 'Tom reported what he measured in February.'),
      ...inSection('Night', 'Swimming in the dark is on 21 June this time.'),
    ];
    const { answer } = await quoteSummary(documents, embed, signal, texts);
    expect(answer.text.split('\n\n').map((line) => /^- (\w+): /.exec(line)?.[1])).toEqual([
      'Fees',
      'Sauna',
      'Water',
      'Night',
    ]);
  });

  it('names the section above a heading that several have', async () => {
    const documents = ['4.2 (May)', '4.1 (April)', '4.0 (March)'].flatMap((version) =>
      inSection(`${version} > Fixed`, `The mower of ${version.slice(5)} does not stop at shadows.`),
    );
    const { answer } = await quoteSummary(documents, embed, signal, texts);
    expect(answer.text).toContain('- 4.1 (April) – Fixed: The mower');
  });

  it('shows a table by its first rows and their number', async () => {
    const rows = ['A', 'B', 'C', 'D'].map((name, index) => `Part: ${name}; Price: ${index}.50`);
    const table = {
      ...passage('t', 'parts.csv', rows.join('\n\n')),
      metadata: { filename: 'parts.csv', blocks: 'rrrr' },
    };
    const { answer } = await quoteSummary([table], embed, signal, texts);
    expect(answer.text).toBe(
      'A table of 4 rows, of which the first are:\n\n| Part | Price |\n| --- | --- |\n| A | 0.50 |\n| B | 1.50 |\n| C | 2.50 |\n\n[1]',
    );
    expect(answer.citations).toHaveLength(1);
  });
});

describe('quoteDifferences', () => {
  const old = passage(
    'o',
    'old.md',
    'The fee is 20 EUR a month. Dogs are allowed in the office. Tea is free.',
  );

  it('pairs sentences about the same, and names the others', async () => {
    const fresh = passage(
      'n',
      'new.md',
      'The fee is 25 EUR a month. Tea is free! Guests sign the visitor book.',
    );
    const { answer } = await quoteDifferences([old, fresh], embed, signal, texts);
    expect(answer.text.split('\n\n')).toEqual([
      'old.md: The fee is 20 EUR a month. [1]',
      'new.md: The fee is 25 EUR a month. [2]',
      'Only in old.md: Dogs are allowed in the office. [1]',
      'Only in new.md: Guests sign the visitor book. [2]',
    ]);
    expect(answer.citations.map(({ documentId }) => documentId)).toEqual(['o', 'n', 'o', 'n']);
  });

  it('says that nothing differs', async () => {
    const { answer } = await quoteDifferences(
      [old, { ...passage('n', 'new.md', old.text) }],
      embed,
      signal,
      texts,
    );
    expect(answer.text).toBe('No sentence differs between old.md and new.md.');
  });
});
