import { extract, maxExtractedCharacters, type ExtractedText } from '#platform/contracts';
import { MessagingConnection, ObjectStore, RpcClient } from '#platform/messaging';
import { startStack, type TestStack } from '#platform/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeDocx, paragraph } from '../../fixtures/dataprep/make-docx.js';
import { lines, makePdf } from '../../fixtures/dataprep/make-pdf.js';

describe('dataprep.extract', () => {
  let stack: TestStack;
  let connection: MessagingConnection;
  let client: RpcClient;
  let objects: ObjectStore;

  beforeAll(async () => {
    stack = await startStack({ services: ['dataprep'] });
    connection = await MessagingConnection.open({ url: stack.nats.url, name: 'test' });
    client = new RpcClient(connection);
    objects = new ObjectStore(connection);
  });

  afterAll(async () => {
    client?.close();
    await connection?.close();
    await stack?.stop();
  });

  async function read(
    filename: string,
    content: string | Uint8Array,
    limit?: number,
  ): Promise<ExtractedText> {
    const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
    const file = await objects.put(bytes, { filename, mimeType: 'application/octet-stream' });
    return client.request(extract, { file, max_characters: limit });
  }

  it('gives the text of a file, its title and its pages', async () => {
    expect(await read('a.txt', 'One line.\n\nAnother.')).toEqual({
      text: 'One line.\n\nAnother.',
      truncated: false,
    });
    const html = await read(
      'a.html',
      '<title>Flen</title><h1>Sings</h1><p>At <b>dawn</b>.</p><ul><li>low</ul>',
    );
    expect(html).toMatchObject({ title: 'Flen', text: 'Sings\n\nAt dawn.\n\n- low' });
    const pdf = await read('a.pdf', makePdf([lines(['First page here.']), lines(['Second page here.'])]));
    expect(pdf).toMatchObject({ pages: 2, truncated: false });
    expect(pdf.text).toContain('Second page here.');
    expect((await read('a.docx', makeDocx([paragraph('From a docx.')]))).text).toBe('From a docx.');
  });

  it('cuts where it is asked to, and refuses texts beyond the limit', async () => {
    expect(await read('long.txt', 'abc '.repeat(20_000), 10)).toEqual({
      text: 'abc abc ab',
      truncated: true,
    });
    const tooLong = read('long.txt', 'word '.repeat(maxExtractedCharacters / 4));
    await expect(tooLong).rejects.toMatchObject({ code: 'payload_too_large', param: 'file' });
  });

  it('says what is wrong with a file', async () => {
    const broken = read('a.pdf', '%PDF-1.4 broken');
    await expect(broken).rejects.toMatchObject({ code: 'unsupported_file' });
    const file = { objectId: 'gone', filename: 'a.txt', mimeType: 'text/plain', bytes: 1 };
    await expect(client.request(extract, { file })).rejects.toMatchObject({ code: 'not_found' });
  });
});
