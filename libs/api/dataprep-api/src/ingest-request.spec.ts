import { describe, expect, it } from 'vitest';
import { parseIngestFields } from './ingest-request.js';

describe('parseIngestFields', () => {
  it('reads form fields, which are all text', () => {
    const fields = {
      link_list: '["https://a.org/x", "https://b.org"]',
      chunk_size: '100',
      chunk_overlap: '10',
      index_name: 'manuals',
      metadata: '{"year": 2026}',
      async: 'true',
      process_table: 'true',
      table_strategy: 'fast',
    };
    expect(parseIngestFields(fields, 10)).toEqual({
      links: ['https://a.org/x', 'https://b.org'],
      chunk_size: 100,
      chunk_overlap: 10,
      collection: 'manuals',
      metadata: { year: 2026 },
      async: true,
      filename: 'text.txt',
      ignored: [],
    });
  });

  it('reads JSON bodies, comma lists and empty fields', () => {
    const fields = {
      link_list: 'https://a.org, https://b.org',
      chunk_size: 100,
      async: false,
      metadata: '',
      collection: 'a',
    };
    expect(parseIngestFields(fields, 10)).toMatchObject({
      links: ['https://a.org', 'https://b.org'],
      chunk_size: 100,
      collection: 'a',
      async: false,
    });
  });

  it.each([
    [{ process_table: 'false' }, ['process_table']],
    [{ process_table: 'False', table_strategy: 'llm' }, ['process_table', 'table_strategy']],
    [{ process_table: true, table_strategy: 'hq' }, ['table_strategy']],
    [{ process_table: 'True', table_strategy: 'fast', index_name: null }, []],
  ])('names the values of the reference without an effect in %j', (fields, ignored) => {
    expect(parseIngestFields(fields, 10)).toMatchObject({ ignored });
  });

  it.each([
    [{ chunk_size: 'many' }, 'invalid_request', 'chunk_size'],
    [{ chunk_size: '5' }, 'invalid_request', 'chunk_size'],
    [{ link_list: '["https://a.org", 7]' }, 'invalid_request', 'link_list[1]'],
    [{ link_list: 'https://a.org,https://b.org,https://c.org' }, 'payload_too_large', 'link_list'],
    [{ metadata: '{broken' }, 'invalid_request', 'metadata'],
    [{ async: 'maybe' }, 'invalid_request', 'async'],
    [{ process_table: 'perhaps' }, 'invalid_request', 'process_table'],
    [{ table_strategy: 'best' }, 'invalid_request', 'table_strategy'],
    [{ index_name: 'all' }, 'invalid_request', 'index_name'],
    [{ chunksize: '100' }, 'unsupported_parameter', 'chunksize'],
  ])('refuses %j', (fields, code, param) => {
    let thrown: unknown;
    try {
      parseIngestFields(fields, 2);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ code, param });
  });

  it.each([
    ['a list of millions of links', { link_list: 'a,'.repeat(3_000_000) }, 'link_list'],
    ['a deep list in a text', { link_list: '['.repeat(100_000) }, 'link_list[0][0]'],
    ['a million fields in a text', { metadata: `{${'"a":1,'.repeat(1_000_000)}"b":1}` }, 'more than 2048'],
  ])('refuses %s', (_name, fields, reason) => {
    const start = performance.now();
    expect(() => parseIngestFields(fields, 10)).toThrow(reason);
    expect(performance.now() - start).toBeLessThan(5_000);
  });
});
