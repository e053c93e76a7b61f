import type OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { toMarkdown } from './export-markdown';
import { passagesOf, toTurns } from './turns';

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

describe('toMarkdown', () => {
  it('lists the sources that an answer cites, and no others', () => {
    expect(toMarkdown('Questions', toTurns(items))).toBe(
      '# Questions\n\n## Why?\n\nBecause. [1]\n\n- [1] a.pdf (Reasons, p. 7)\n\n## And?\n',
    );
  });
});
