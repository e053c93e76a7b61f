import type { Citation, RetrievedDocument } from '#platform/contracts';
import { describe, expect, it } from 'vitest';
import { AttachedSources } from '../request/attached-sources.js';
import type { DocumentBlock } from '../request/blocks.js';
import { messageCitations } from './message-citations.js';

const quote = 'It runs on plum juice.';
const citation: Citation = {
  startIndex: 0,
  endIndex: 9,
  passage: 1,
  documentId: 'c',
  quote,
  quoteStart: 0,
  quoteEnd: 22,
};
const passage = (filename: string, metadata: object = {}): RetrievedDocument => ({
  id: 'c',
  text: quote,
  score: 1,
  metadata: { filename, document_id: 'attached-1', ...metadata },
});

function cite(source: DocumentBlock['source'], metadata: object = {}, enabled = true) {
  const sources = new AttachedSources();
  sources.addDocument({ type: 'document', source: { type: 'text', data: 'Another one.' }, title: 'First' });
  sources.addDocument({ type: 'document', source, title: 'Ferry', citations: { enabled } });
  const filename = sources.all[1]?.filename ?? '';
  return messageCitations([citation], [passage(filename, metadata)], sources.all);
}
const head = { cited_text: quote, document_index: 1, document_title: 'Ferry', file_id: null };

describe('messageCitations', () => {
  it('cites a text by its characters, across other white space', () => {
    const text = 'A ferry.\nIt runs\non plum juice. Each hour.';
    expect(cite({ type: 'text', data: text })).toEqual([
      { ...head, type: 'char_location', start_char_index: 9, end_char_index: 31 },
    ]);
  });

  it('cites a PDF by its page', () => {
    const source = { type: 'base64', media_type: 'application/pdf', data: 'AA==' } as const;
    expect(cite(source, { page: 3 })).toEqual([
      { ...head, type: 'page_location', start_page_number: 3, end_page_number: 4 },
    ]);
  });

  it('cites blocks by their numbers', () => {
    const content = ['A ferry.', quote].map((text) => ({ type: 'text' as const, text }));
    expect(cite({ type: 'content', content })).toEqual([
      { ...head, type: 'content_block_location', start_block_index: 1, end_block_index: 2 },
    ]);
  });

  it('cites no document for which the client does not ask', () => {
    expect(cite({ type: 'text', data: quote }, {}, false)).toEqual([]);
  });

  it('cites a search result of the request by its source', () => {
    const sources = new AttachedSources();
    const content = [{ type: 'text' as const, text: quote }];
    const block = { type: 'search_result' as const, source: 'https://x/ferry', title: 'Ferry', content };
    sources.addSearchResult({ ...block, citations: { enabled: true } });
    expect(messageCitations([citation], [passage('Ferry.txt')], sources.all)).toMatchObject([
      {
        type: 'search_result_location',
        source: 'https://x/ferry',
        search_result_index: 0,
        end_block_index: 1,
      },
    ]);
  });
});
