import type { BatchRequest } from '#platform/storage';
import { describe, expect, it } from 'vitest';
import { BatchFileReader, maxBatchRequests } from './read-batch-file.js';

const endpoint = '/v1/embeddings';
const line = (custom_id: string, more: object = {}) =>
  JSON.stringify({ custom_id, method: 'POST', url: endpoint, body: { input: 'ü' }, ...more });

async function read(text: string, pieceBytes = 7) {
  const reader = new BatchFileReader({ endpoint, maxLineBytes: 1_000 });
  const bytes = Buffer.from(text);
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < bytes.length; at += pieceBytes) {
      await Promise.resolve();
      yield bytes.subarray(at, at + pieceBytes);
    }
  }
  const requests: BatchRequest[] = [];
  for await (const group of reader.read(pieces())) requests.push(...group);
  return { requests, problems: reader.problems };
}

describe('BatchFileReader', () => {
  it('reads requests in order, however the file arrives, with and without a last line end', async () => {
    const expected = ['a', 'b'].map((customId, index) => ({ line: index, customId, body: { input: 'ü' } }));
    for (const text of [`${line('a')}\n\n${line('b')}\n`, `${line('a')}\r\n${line('b')}`])
      expect(await read(text)).toEqual({ requests: expected, problems: [] });
  });

  it.each([
    ['not JSON', '{', 'invalid_json_line', null],
    ['a list', '[]', 'invalid_request', null],
    ['without an id', line('').replace('"custom_id":"",', ''), 'invalid_request', 'custom_id'],
    ['another method', line('a', { method: 'GET' }), 'invalid_request', 'method'],
    ['another endpoint', line('a', { url: '/v1/responses' }), 'mismatched_url', 'url'],
    ['a stream', line('a', { body: { stream: true } }), 'invalid_request', 'body.stream'],
    ['a long line', line('a', { body: { input: 'x'.repeat(2_000) } }), 'request_too_large', null],
    ['an id again', `${line('a')}\n${line('a')}`, 'duplicate_custom_id', 'custom_id'],
    ['nothing', '\n', 'empty_file', null],
  ])('names the line of %s', async (_name, text, code, param) => {
    const { problems } = await read(text, 500);
    expect(problems).toMatchObject([
      { code, param, line: text.split('\n').length - (text === '\n' ? 1 : 0) },
    ]);
  });

  it('stops after a hundred mistakes, and beyond the limit of requests', async () => {
    expect((await read('{\n'.repeat(300))).problems).toHaveLength(100);
    const many = Array.from({ length: maxBatchRequests + 1 }, (_unused, index) => line(`${index}`)).join(
      '\n',
    );
    expect((await read(many, 1_000_000)).problems).toMatchObject([{ code: 'too_many_requests' }]);
  });
});
