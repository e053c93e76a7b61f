import { describe, expect, it } from 'vitest';
import {
  collectionNameSchema,
  givenMetadataSchema,
  nameSchema,
  pageFields,
  pageOfQuote,
  timeFields,
  timeOfQuote,
} from './documents.js';
import { ingest } from './services/dataprep.js';
import { retrievalParametersSchema, retrieve } from './services/retrieval.js';

describe('pageOfQuote', () => {
  const passage = (metadata: Record<string, unknown>) => ({
    id: '1',
    text: 'On four. On five. On seven.',
    score: 1,
    metadata,
  });

  it.each([
    ['On four.', 4],
    ['On five.', 5],
    ['On seven.', 7],
    ['Nowhere.', 4],
    ['', 4],
  ])('finds %j on page %i', (quote, page) => {
    expect(pageOfQuote(passage({ page: 4, page_breaks: '9:5 18:7' }), quote)).toBe(page);
  });

  it('knows a passage of one page, and one of a document without pages', () => {
    expect(pageOfQuote(passage({ page: 2 }), 'On five.')).toBe(2);
    expect(pageOfQuote(passage({}), 'On five.')).toBeUndefined();
  });

  it('gives an answer the number of the page, and its label where it has one', () => {
    const pages = passage({ page: 4, page_breaks: '9:5 18:7', page_labels: { 4: 'iv', 7: 'A-3' } });
    expect(pageFields(pages, 'On four.')).toEqual({ page: 4, page_label: 'iv' });
    expect(pageFields(pages, 'On five.')).toEqual({ page: 5 });
    expect(pageFields(pages, 'On seven.')).toEqual({ page: 7, page_label: 'A-3' });
    expect(pageFields(passage({ page_labels: 'x' }), 'On four.')).toEqual({});
  });
});

describe('timeOfQuote', () => {
  const text = 'At the start. In the middle.\n\nAt the end.';
  const metadata = { start_seconds: 83.4, end_seconds: 3_725, time_breaks: '0:83.4-101.9 30:3600-3725' };

  it.each([
    ['At the start.', '1:23–1:41'],
    ['In the middle.', '1:23–1:41'],
    ['At the end.', '1:00:00–1:02:05'],
    ['In the middle.\n\nAt the end.', '1:23–1:02:05'],
    ['Nowhere.', '1:23–1:02:05'],
    ['', '1:23–1:02:05'],
  ])('finds %j at %s', (quote, time) => {
    expect(timeFields(timeOfQuote({ text, metadata }, quote)!).time).toBe(time);
  });

  it('knows a passage of one paragraph, and one that is not of a recording', () => {
    const one = { start_seconds: 0, end_seconds: 9 };
    expect(timeOfQuote({ text, metadata: one }, 'At the end.')).toEqual({ start: 0, end: 9 });
    expect(timeOfQuote({ text, metadata: { page: 2 } }, 'At the end.')).toBeUndefined();
  });
});

describe('nameSchema', () => {
  it.each(['default', 'Über uns', '日本語', 'a_b-c.d', 'نام'])('takes %j', (name) => {
    expect(nameSchema(128).safeParse(name).success).toBe(true);
  });

  it.each(['', 'v\0s_1', 'a\nb', 'a\u2028b', 'a\u0085b', 'a\ud800', 'x'.repeat(129)])(
    'refuses %j',
    (name) => {
      expect(nameSchema(128).safeParse(name).success).toBe(false);
    },
  );
});

describe('collections', () => {
  it.each(['default', 'Über uns', '資料（2026）', 'نام\u200cها', 'vsop', 'vs_1', 'manuals 👩‍💻'])(
    'may be named %j',
    (name) => {
      expect(collectionNameSchema.safeParse(name).success).toBe(true);
    },
  );

  it.each([
    '\u200bvs_1',
    'ma\u200bnuals',
    'manuals\u202e',
    '\ufeffa',
    'ｖs_1',
    'vs＿1',
    'VS_1',
    ' vs_1',
    'vѕ_1',
  ])('may not be named %j, which looks like another name', (name) => {
    expect(collectionNameSchema.safeParse(name).success).toBe(false);
  });

  const hidden = 'v\0s_0123';

  it.each(['vs_0123', hidden])('of vector stores are not searched by name: %j', (collection) => {
    expect(retrievalParametersSchema.safeParse({ collection }).success).toBe(false);
  });

  it('hold documents whose names fit into an index', () => {
    const request = { links: [`https://example.org/${'x'.repeat(3_000)}`] };
    expect(ingest.request.safeParse(request).success).toBe(false);
    const file = { objectId: 'x', filename: '日'.repeat(900), mimeType: '', bytes: 1 };
    expect(ingest.request.safeParse({ files: [file] }).success).toBe(false);
  });

  it('have no control characters among services either', () => {
    expect(retrieve.request.safeParse({ query: 'x', collection: hidden }).success).toBe(false);
    expect(ingest.request.safeParse({ collection: hidden }).success).toBe(false);
    const file = { objectId: 'x', filename: 'a\0.txt', mimeType: '', bytes: 1 };
    expect(ingest.request.safeParse({ files: [file] }).success).toBe(false);
  });
});

describe('the attributes of a document', () => {
  it.each([
    ['a long text', { subject: 'x'.repeat(513) }, 'subject'],
    ['a long text in a list', { tags: ['a', 'x'.repeat(513)] }, 'tags'],
    ['many fields', Object.fromEntries(Array.from({ length: 65 }, (_unused, index) => [`k${index}`, 1])), ''],
    ['a long name', { ['x'.repeat(65)]: 1 }, ''],
    ['much in all', { numbers: Array.from({ length: 10_000 }, (_unused, index) => index) }, ''],
  ])('have a limit: %s is refused', (_name, metadata, field) => {
    const { error } = givenMetadataSchema.safeParse(metadata);
    expect(error?.issues).toHaveLength(1);
    expect(error?.issues[0]?.path.join('.')).toBe(field);
    expect(error?.issues[0]?.message).toMatch(/at most \d+/);
  });

  it('may be nested', () => {
    const metadata = { year: 2026, tags: ['a', 'b'], place: { city: 'x'.repeat(512) } };
    expect(givenMetadataSchema.parse(metadata)).toEqual(metadata);
  });
});
