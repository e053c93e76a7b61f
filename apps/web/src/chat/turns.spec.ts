import type OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { toMarkdown, citedPlaces, numberedPassages, placeAt, passagesOf, queriesOf, toTurns } from './turns';

const items = [
  {
    type: 'message',
    id: 'm1',
    role: 'user',
    status: 'completed',
    content: [{ type: 'input_text', text: 'Why?' }],
  },
  {
    type: 'file_search_call',
    id: 'f1',
    status: 'completed',
    queries: ['Why?'],
    results: [
      {
        file_id: 'd1',
        filename: 'a.pdf',
        text: 'Because.',
        score: 0.5,
        attributes: { document_id: 'd1', chunk_index: 3, page: 7, heading: 'Reasons' },
      },
      { file_id: 'd2', filename: 'b.md', text: 'No reason.', score: 0.1 },
    ],
  },
  {
    type: 'message',
    id: 'm2',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text: 'Because. [1]', annotations: [], logprobs: [] }],
  },
  {
    type: 'message',
    id: 'm3',
    role: 'user',
    status: 'completed',
    content: [{ type: 'input_text', text: 'And?' }],
  },
] as unknown as OpenAI.Conversations.ConversationItem[];

describe('toTurns', () => {
  it('groups items by question', () => {
    const turns = toTurns(items);
    expect(turns.map(({ question, itemIds }) => [question, itemIds])).toEqual([
      ['Why?', ['m1', 'f1', 'm2']],
      ['And?', ['m3']],
    ]);
    expect(queriesOf(turns[0] ?? { output: [] })).toEqual(['Why?']);
    expect(passagesOf(turns[0] ?? { output: [] })).toEqual([
      {
        documentId: 'd1',
        filename: 'a.pdf',
        text: 'Because.',
        score: 0.5,
        index: 3,
        page: 7,
        heading: 'Reasons',
      },
      { documentId: 'd2', filename: 'b.md', text: 'No reason.', score: 0.1 },
    ]);
  });
});

describe('numberedPassages', () => {
  const found = (chunk_id: string) => ({ file_id: 'd', filename: 'a.md', attributes: { chunk_id } });
  const output = (annotations: object[]) =>
    [
      { type: 'file_search_call', results: ['a', 'b', 'c'].map(found) },
      { type: 'message', content: [{ type: 'output_text', text: 'So. [1] Or. [2]', annotations }] },
    ] as unknown as Parameters<typeof numberedPassages>[0]['output'];
  const cite = (chunk_id?: string) => ({
    type: 'file_citation',
    file_id: 'd',
    filename: 'a.md',
    index: 1,
    chunk_id,
  });
  const numbered = (annotations: object[]) =>
    numberedPassages({ output: output(annotations) }).map(({ chunkId }) => chunkId);

  it('are the cited passages in the order of the annotations, then the others', () => {
    expect(numbered([cite('c'), cite('a'), cite('c')])).toEqual(['c', 'a', 'b']);
  });

  it('are those of the search in answers of earlier versions, and none while an engine is writing', () => {
    expect(numbered([cite()])).toEqual(['a', 'b', 'c']);
    expect(numbered([])).toEqual([]);
  });
});

describe('placeAt', () => {
  const message = (text: string, annotations: object[]) => ({
    type: 'message',
    content: [{ type: 'output_text', text, annotations }],
  });
  const cite = (file_id: string, index: number, page?: number, quote?: string) => ({
    type: 'file_citation',
    file_id,
    filename: 'a.pdf',
    index,
    page,
    quote,
  });
  const output = [
    message('One. [1]', [cite('a', 4, 3), cite('b', 4)]),
    message('Two. [1]', [cite('a', 4, 7, 'Two.')]),
  ] as unknown as Parameters<typeof citedPlaces>[0]['output'];

  it('has the page and the quote of the nearest annotation of that document', () => {
    const places = citedPlaces({ output });
    const answer = 'One. [1]\n\nTwo. [1]';
    expect(placeAt(places, 'a', answer.indexOf('[1]'))?.page).toBe(3);
    expect(placeAt(places, 'a', answer.lastIndexOf('[1]'))?.page).toBe(7);
    expect(placeAt(places, 'a', answer.lastIndexOf('[1]'))?.quote).toBe('Two.');
    expect(placeAt(places, 'b', 5)?.page).toBeUndefined();
    expect(placeAt(places, 'c', 5)).toBeUndefined();
  });
});

describe('toMarkdown', () => {
  it('lists the sources that an answer cites, and no others', () => {
    expect(toMarkdown('Questions', toTurns(items))).toBe(
      '# Questions\n\n## Why?\n\nBecause. [1]\n\n- [1] a.pdf (Reasons, p. 7)\n\n## And?\n',
    );
  });
});
