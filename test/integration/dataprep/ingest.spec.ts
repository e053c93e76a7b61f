import { startStack, type TestStack } from '#platform/testing';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeDocx, paragraph } from '../../fixtures/dataprep/make-docx.js';
import { lines, makePdf } from '../../fixtures/dataprep/make-pdf.js';
import { DataprepClient, formOf, type Upload } from './dataprep-client.js';

interface Passage {
  text: string;
  metadata: Record<string, unknown>;
}

const uploads: [type: string, upload: Upload, question: string, fact: string][] = [
  ['txt', ['quorl.txt', 'The quorl of Zembla weighs exactly 417 grams.'], 'weight of the quorl', '417 grams'],
  ['md', ['flen.md', '# Flen\n\nThe flen sings *only* at dawn.\n'], 'when does the flen sing', 'at dawn'],
  [
    'html',
    ['drab.html', '<h1>Drab</h1><p>Drabs eat <b>blue</b> lentils.</p>'],
    'what do drabs eat',
    'blue lentils',
  ],
  ['json', ['mip.json', '[{"name":"Mip","colour":"vermilion"}]'], 'colour of mip', 'vermilion'],
  ['csv', ['orst.csv', 'animal,legs\norst,eleven\n'], 'legs of the orst', 'eleven'],
  [
    'pdf',
    ['glim.pdf', makePdf([lines(['The glim lives in the town of Orvessa.'])])],
    'where does the glim live',
    'Orvessa',
  ],
  [
    'docx',
    ['tarn.docx', makeDocx([paragraph('The tarn was discovered by Ilse Vantor.')])],
    'who discovered the tarn',
    'Vantor',
  ],
];

describe('the dataprep service', () => {
  let stack: TestStack;
  let dataprep: DataprepClient;

  beforeAll(async () => {
    stack = await startStack({ services: ['embedding', 'retrieval', 'dataprep'] });
    dataprep = new DataprepClient(stack.service('dataprep').url);
  });

  afterAll(() => stack?.stop());

  async function search(text: string, parameters: Record<string, unknown> = {}): Promise<Passage[]> {
    const retrieval = new DataprepClient(stack.service('retrieval').url);
    const { body } = await retrieval.post<{ retrieved_docs: Passage[] }>('/v1/retrieval', {
      text,
      search_type: 'hybrid',
      k: 3,
      ...parameters,
    });
    return body.retrieved_docs;
  }

  it.each(uploads)('ingests %s so that its fact is found', async (_type, upload, question, fact) => {
    const { status, body } = await dataprep.ingest([upload]);
    expect({ status, error: body.error }).toEqual({ status: 200 });
    expect(body).toMatchObject({ status: 200, message: 'Data preparation succeeded' });
    expect(body.documents).toMatchObject([{ filename: upload[0], outcome: 'added', chunks: 1 }]);
    const [best] = await search(question);
    expect(best?.text).toContain(fact);
    expect(best?.metadata).toMatchObject({ filename: upload[0], document_id: body.documents[0]?.documentId });
  });

  it('keeps the file of a document, and sends it as a download', async () => {
    const large = Buffer.from(
      `<script>alert(1)</script><!-- ${'x'.repeat(600_000)} --><p>The vopal hums.</p>`,
    );
    const { body } = await dataprep.ingest([
      ["häfen/vopal's (page).html", large],
      ['small.txt', 'The zil is small.'],
    ]);
    for (const [at, bytes] of [large, Buffer.from('The zil is small.')].entries()) {
      const url = `${dataprep.url}/v1/dataprep/documents/${body.documents[at]!.documentId}`;
      expect(await (await fetch(url)).json()).toMatchObject({ originalBytes: bytes.length });
      const original = await fetch(`${url}/original`);
      expect(Buffer.from(await original.arrayBuffer()).equals(bytes)).toBe(true);
      expect(Object.fromEntries(original.headers)).toMatchObject({
        'content-type': 'application/octet-stream',
        'content-disposition': expect.stringMatching(
          /^attachment; filename\*=UTF-8''(?:vopal%27s%20%28page%29\.html|small\.txt)$/,
        ),
        'x-content-type-options': 'nosniff',
        'content-security-policy': expect.stringContaining('sandbox'),
      });
    }
    const { documentId } = body.documents[0]!;
    await dataprep.post('/v1/dataprep/delete', { file_path: documentId });
    const gone = await fetch(`${dataprep.url}/v1/dataprep/documents/${documentId}/original`);
    expect(gone.status).toBe(404);
  });

  it('says what was read of a document, and what was not', async () => {
    const collection = 'reports';
    const russian: Upload = [
      'keys.txt',
      Buffer.from([0xca, 0xeb, 0xfe, 0xf7, 0x20, 0xe2, 0xe8, 0xf1, 0xe8, 0xf2, 0x20, 0xf2, 0xf3, 0xf2]),
    ];
    const warnings = [
      { code: 'encoding_guessed', message: expect.stringContaining('windows-1251') as string },
    ];
    const report = {
      read: { encoding: 'windows-1251', encodingConfidence: expect.any(Number) as number },
      warnings,
    };
    const first = (await dataprep.ingest([russian], { collection })).body.documents[0];
    expect(first).toMatchObject({ outcome: 'added', ...report });
    const again = (await dataprep.ingest([russian], { collection })).body.documents[0];
    expect(again).toMatchObject({ outcome: 'unchanged', ...report });
    const url = `${stack.service('dataprep').url}/v1/dataprep/documents/${first?.documentId}`;
    expect(await (await fetch(url)).json()).toMatchObject({ name: 'keys.txt', ...report });
    const { body } = await dataprep.ingest([russian], { collection, encoding: 'KOI8-R' });
    expect(body.documents[0]).toMatchObject({ outcome: 'replaced', read: { encoding: 'koi8-r' } });
    expect(body.documents[0]).not.toHaveProperty('warnings');
    expect((await dataprep.ingest([russian], { collection, encoding: 'klingon' })).body.error).toMatchObject({
      param: 'encoding',
    });
    const strikes: Upload = ['fees.html', '<p>Fee <s>90</s> 70 crowns</p>'];
    await dataprep.ingest([strikes], { collection, keep_revisions: 'true' });
    expect((await search('fee in crowns', { collection }))[0]?.text).toContain('~~90~~ 70');
  });

  it('notices what is unchanged, replaces what changed, deletes what should go', async () => {
    const collection = 'versions';
    const send = async (content: string, fields: Record<string, string> = {}) =>
      (await dataprep.ingest([['v.txt', content]], { collection, ...fields })).body.documents[0]?.outcome;
    expect(await send('The password is otter.')).toBe('added');
    expect(await send('The password is otter.')).toBe('unchanged');
    expect(await send('The password is otter.', { metadata: '{"year":2026}' })).toBe('replaced');
    expect(await send('The password is heron.')).toBe('replaced');
    expect((await search('password', { collection })).map(({ text }) => text)).toEqual([
      'The password is heron.',
    ]);
    const deleted = await dataprep.post('/v1/dataprep/delete', { file_path: 'v.txt', collection });
    expect(deleted).toEqual({ status: 200, body: { status: true, deleted: 1 } });
    expect(await search('password', { collection })).toEqual([]);
    const again = await dataprep.post('/v1/dataprep/delete', { file_path: 'v.txt', collection });
    expect(again).toMatchObject({ status: 404, body: { error: { code: 'not_found', param: 'file_path' } } });
  });

  it('takes many files, parameters and attributes at once; lists and clears collections', async () => {
    const text = Array.from(
      { length: 30 },
      (_unused, index) => `Sentence number ${index} talks of lamps.`,
    ).join(' ');
    const fields = { index_name: 'many', chunk_size: '30', chunk_overlap: '6', metadata: '{"team":"a"}' };
    const { body } = await dataprep.ingest(
      [
        ['one.txt', text],
        ['two.md', '# Two\n\nShort.'],
        ['früh.txt', 'Tau.'],
      ],
      fields,
    );
    expect(body.documents.map(({ filename, chunks }) => [filename, chunks])).toEqual([
      ['one.txt', 8],
      ['two.md', 1],
      ['früh.txt', 1],
    ]);
    const found = await search('lamps', { collection: 'many', filter: { team: 'a' } });
    expect(found[0]?.metadata).toMatchObject({ team: 'a', filename: 'one.txt' });
    expect(await dataprep.names('many')).toEqual(['früh.txt', 'one.txt', 'two.md']);
    const listed = await dataprep.post<Record<string, unknown>[]>('/v1/dataprep/get_file', {
      index_name: 'many',
    });
    expect(listed.body).toContainEqual(
      expect.objectContaining({ name: 'one.txt', type: 'File', parent: '', chunks: 8 }),
    );
    const page = await dataprep.post<{ id: string; name: string }[]>('/v1/dataprep/get', {
      collection: 'many',
      search: 'ONE',
      limit: 5,
    });
    expect(page.body.map(({ name }) => name)).toEqual(['one.txt']);
    const chunks = await fetch(
      `${dataprep.url}/v1/dataprep/documents/${page.body[0]?.id}/chunks?from=6&limit=1`,
    );
    expect(await chunks.json()).toMatchObject({
      document: { name: 'one.txt', chunks: 8 },
      chunks: [{ index: 6, metadata: { team: 'a' } }],
      has_more: true,
    });
    const unknown = await fetch(`${dataprep.url}/v1/dataprep/documents/none/chunks`);
    expect(unknown.status).toBe(404);
    const headers = { accept: 'text/event-stream' };
    expect((await fetch(unknown.url, { headers })).status).toBe(404);
    expect((await dataprep.post('/v1/dataprep/indices', {})).body).toContain('many');
    const cleared = await dataprep.post('/v1/dataprep/delete', { file_path: 'all', collection: 'many' });
    expect(cleared.body).toEqual({ status: true, deleted: 3 });
    expect(await dataprep.names('many')).toEqual([]);
  });

  it('stores what can be read of a batch, and says why the rest cannot', async () => {
    const collection = 'batch';
    const files: Upload[] = [
      ['good.txt', 'The zarf is made of tin.'],
      ['bad.pdf', '%PDF-1.4 broken'],
      ['notes.weird', 'Any UTF-8 text counts: Käse.'],
    ];
    const links = { collection, link_list: '["http://169.254.169.254/latest"]' };
    const { status, body } = await dataprep.ingest(files, links);
    expect(status).toBe(200);
    expect(body.documents.map(({ filename }) => filename)).toEqual(['good.txt', 'notes.weird']);
    expect(body).toMatchObject({
      message: 'Data preparation succeeded for 2 of 4 documents',
      failed: [
        { filename: 'bad.pdf', error: { code: 'unsupported_file', param: 'files[1]' } },
        {
          filename: 'http://169.254.169.254/latest',
          error: { code: 'forbidden_url', param: 'link_list[0]' },
        },
      ],
    });
    expect(await dataprep.names(collection)).toEqual(['good.txt', 'notes.weird']);
    expect((await search('zarf', { collection }))[0]?.text).toContain('tin');
  });

  it('keeps the paths of files of one name, and takes more than a hundred files', async () => {
    const collection = 'paths';
    const files = Array.from({ length: 120 }, (_unused, index): Upload => [
      `part${index}/readme.txt`,
      `Note ${index} speaks of lamps.`,
    ]);
    const { status, body } = await dataprep.ingest([...files, ['../../C/x.txt', 'A path that leads out.']], {
      collection,
    });
    expect(status).toBe(200);
    expect(body.documents).toHaveLength(121);
    expect(await dataprep.names(collection)).toEqual(
      expect.arrayContaining(['part0/readme.txt', 'part119/readme.txt', 'C/x.txt']),
    );
    const deleted = await dataprep.post('/v1/dataprep/delete', { file_path: 'part7/readme.txt', collection });
    expect(deleted.body).toEqual({ status: true, deleted: 1 });
  });

  it('writes its progress as lines for a terminal', async () => {
    const response = await fetch(`${dataprep.url}/v1/dataprep/ingest`, {
      method: 'POST',
      headers: { accept: 'text/plain' },
      body: formOf(
        [
          ['line.txt', 'A line on clouds.'],
          ['gone.txt', ''],
        ],
        { collection: 'lines' },
      ),
    });
    expect(response.headers.get('content-type')).toContain('text/plain');
    expect(await response.text()).toMatch(
      /^reading +line\.txt \(1 of 2\)\n[^]*added +line\.txt, 1 chunks\nfailed +gone\.txt: .*empty.*\ndone +1 of 2 documents\n$/,
    );
  });

  it('takes text in a JSON body', async () => {
    const body = { text: '# Note\n\nThe vault is green.', filename: 'note.md', collection: 'json' };
    expect(await dataprep.post('/v1/dataprep', body)).toMatchObject({ status: 200 });
    expect((await search('vault', { collection: 'json' }))[0]?.metadata).toMatchObject({ heading: 'Note' });
  });

  it('streams its progress, never backwards', async () => {
    const text = Array.from(
      { length: 400 },
      (_unused, index) => `Line ${index} of a longer text on clouds.`,
    ).join(' ');
    const response = await fetch(`${dataprep.url}/v1/dataprep/ingest`, {
      method: 'POST',
      headers: { accept: 'text/event-stream' },
      body: formOf([['long.txt', text]], { collection: 'stream', chunk_size: '20' }),
    });
    const stream = response.body
      ?.pipeThrough(new TextDecoderStream())
      .pipeThrough(new EventSourceParserStream());
    const events: { event?: string; data: { stage: string; completed: number } }[] = [];
    for await (const { event, data } of stream ?? []) events.push({ event, data: JSON.parse(data) });
    const stages = events.slice(0, -1).map(({ data }) => data.stage);
    expect([...new Set(stages)]).toEqual(['reading', 'chunking', 'embedding', 'storing']);
    const embedded = events
      .filter(({ data }) => data.stage === 'embedding')
      .map(({ data }) => data.completed);
    expect(embedded.length).toBeGreaterThan(3);
    expect(embedded).toEqual(embedded.toSorted((left, right) => left - right));
    expect(events.at(-1)).toMatchObject({
      event: 'done',
      data: { status: 200, documents: [{ outcome: 'added' }] },
    });
  });

  it('works in the background when asked to', async () => {
    const started = await fetch(`${dataprep.url}/v1/dataprep/ingest?async=true`, {
      method: 'POST',
      body: formOf([['later.txt', 'The bridge opens in March.']], { collection: 'later' }),
    });
    expect(started.status).toBe(202);
    const path = started.headers.get('location') ?? '';
    const events = await fetch(dataprep.url + path, { headers: { accept: 'text/event-stream' } });
    const stream = events.body
      ?.pipeThrough(new TextDecoderStream())
      .pipeThrough(new EventSourceParserStream());
    const states: unknown[] = [];
    for await (const { event, data } of stream ?? []) {
      expect(event).toBe('job');
      states.push(JSON.parse(data));
    }
    const ended = {
      state: 'succeeded',
      progress: { stage: 'done', documents: [{ filename: 'later.txt' }] },
    };
    expect(states.at(-1)).toMatchObject(ended);
    expect(await (await fetch(dataprep.url + path)).json()).toMatchObject(ended);
    expect(await dataprep.names('later')).toEqual(['later.txt']);
    const unknown = await fetch(`${dataprep.url}/v1/dataprep/jobs/00000000-0000-0000-0000-000000000000`);
    expect(unknown.status).toBe(404);
  });

  it.each([
    ['no file', [], {}, 'invalid_request', 'files'],
    ['an empty file', [['empty.txt', '']], {}, 'unsupported_file', 'files[0]'],
    [
      'several files of which none can be read',
      [
        ['bad.pdf', '%PDF-1.4 broken'],
        ['empty.txt', ''],
      ],
      {},
      'unsupported_file',
      'files[0]',
    ],
    ['an image', [['a.png', Buffer.from('\x89PNG', 'latin1')]], {}, 'unsupported_file', 'files[0]'],
    [
      'two files of one name',
      [
        ['a.txt', 'x y'],
        ['a.txt', 'z'],
      ],
      {},
      'invalid_request',
      'files[1]',
    ],
    ['a tiny chunk size', [['a.txt', 'x']], { chunk_size: '1' }, 'invalid_request', 'chunk_size'],
    [
      'a chunk size that is no number',
      [['a.txt', 'x']],
      { chunk_size: 'big' },
      'invalid_request',
      'chunk_size',
    ],
    [
      'an overlap as large as the chunk',
      [['a.txt', 'x']],
      { chunk_size: '20', chunk_overlap: '20' },
      'invalid_request',
      'chunk_overlap',
    ],
    ['metadata that is no object', [['a.txt', 'x']], { metadata: '[1' }, 'invalid_request', 'metadata'],
    ['an unknown field', [['a.txt', 'x']], { chunksize: '20' }, 'unsupported_parameter', 'chunksize'],
    ['a link that is none', [], { link_list: 'nonsense' }, 'invalid_request', 'link_list[0]'],
    ['a private link', [], { link_list: '["https://127.0.0.1/x"]' }, 'forbidden_url', 'link_list[0]'],
    [
      'a link to cloud metadata',
      [],
      { link_list: 'http://169.254.169.254/latest' },
      'forbidden_url',
      'link_list[0]',
    ],
    ['a file link', [], { link_list: '["file:///etc/passwd"]' }, 'forbidden_url', 'link_list[0]'],
  ] as [string, Upload[], Record<string, string>, string, string][])(
    'refuses %s and stores nothing',
    async (_name, files, fields, code, param) => {
      const { status, body } = await dataprep.ingest(files, { collection: 'refused', ...fields });
      expect(status).toBe(400);
      expect(body.error).toMatchObject({ code, param });
      expect(await dataprep.names('refused')).toEqual([]);
    },
  );
});
