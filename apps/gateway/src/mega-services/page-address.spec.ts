import { addressOf } from '#platform/contracts';
import { expect, it } from 'vitest';
import { withAddresses } from './page-address.js';

const addresses = (metadata: Record<string, unknown>, origin?: string) =>
  withAddresses([{ id: 'c', text: '', score: 1, metadata }], origin).map(addressOf);

it('gives each passage its own address in the page', () => {
  const metadata = { document_id: 'd1', chunk_index: 3 };
  expect(addresses(metadata, 'https://ai.example')).toEqual(['https://ai.example/#/documents/d1?passage=3']);
  expect(addresses(metadata)).toEqual([undefined]);
});

it('keeps the address of a linked document, and gives a file the address of its content', () => {
  const link = { document_id: 'd1', source: 'https://a.example/b' };
  expect(addresses(link, 'http://localhost:8888')).toEqual(['https://a.example/b']);
  expect(addresses({ document_id: 'file-1' }, 'http://x')).toEqual(['http://x/v1/files/file-1/content']);
  expect(addresses({}, 'http://x')).toEqual([undefined]);
  expect(addresses({ document_id: 'attached-1', chunk_index: 0 }, 'http://x')).toEqual([undefined]);
});
