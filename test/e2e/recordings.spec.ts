import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { repositoryRoot, startStack, type TestStack } from '#platform/testing';
import { formOf } from '../integration/dataprep/dataprep-client.js';

/** Recordings as documents: the bundled voice speaks them, the bundled ear transcribes them. */
describe('a recording', () => {
  let stack: TestStack;
  let gateway: string;
  let openai: OpenAI;

  beforeAll(async () => {
    stack = await startStack();
    gateway = stack.service('gateway').url;
    openai = new OpenAI({ baseURL: `${gateway}/v1`, apiKey: 'none', maxRetries: 0 });
  });

  afterAll(() => stack?.stop());

  const speak = async (input: string, format: 'wav' | 'mp3' | 'opus' | 'flac') => {
    const speech = { model: 'flite', voice: 'rms', input, response_format: format } as const;
    return Buffer.from(await (await openai.audio.speech.create(speech)).arrayBuffer());
  };
  const ingest = async (files: [string, Buffer][], collection: string) => {
    const response = await fetch(`${gateway}/v1/dataprep/ingest`, {
      method: 'POST',
      body: formOf(files, { collection }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const chunksOf = async (id: unknown) => {
    const response = await fetch(`${gateway}/v1/dataprep/documents/${String(id)}/chunks`);
    const { chunks } = (await response.json()) as {
      chunks: { text: string; metadata: Record<string, unknown> }[];
    };
    return chunks;
  };

  const fact = 'The people of the city came to the house. The answer of the president is forty two.';

  it('in four formats is stored with its times, and says what was read', async () => {
    const formats = ['wav', 'mp3', 'opus', 'flac'] as const;
    const files = await Promise.all(
      formats.map(async (format): Promise<[string, Buffer]> => [`talk.${format}`, await speak(fact, format)]),
    );
    const { status, body } = await ingest(files, 'formats');
    expect(status).toBe(200);
    const documents = body['documents'] as { documentId: string; read: Record<string, unknown> }[];
    expect(documents).toHaveLength(4);
    for (const { documentId, read } of documents) {
      expect(read).toMatchObject({ language: 'en', transcribedBy: 'nano-asr', seconds: expect.any(Number) });
      const [chunk] = await chunksOf(documentId);
      expect(chunk!.text).toMatch(/answer of the president/i);
      expect(chunk!.metadata).toMatchObject({
        time: expect.stringMatching(/^0:0\d–0:0\d$/),
        start_seconds: expect.any(Number),
        end_seconds: expect.any(Number),
      });
    }
    // The same file with the same model is not transcribed again.
    const again = await ingest(files.slice(0, 1), 'formats');
    expect(again.body['documents']).toMatchObject([{ outcome: 'unchanged' }]);
  });

  it('is cited by its time', async () => {
    const pause = Buffer.alloc(32_000 * 4);
    const parts = await Promise.all(
      ['The people of the city came to the house.', 'The answer of the president is forty two.'].map((text) =>
        speak(text, 'wav'),
      ),
    );
    const [first, second] = parts as [Buffer, Buffer];
    const rate = first.readUInt32LE(24);
    const data = Buffer.concat([first.subarray(44), pause, second.subarray(44)]);
    const head = Buffer.from(first.subarray(0, 44));
    head.writeUInt32LE(36 + data.length, 4);
    head.writeUInt32LE(data.length, 40);
    await ingest([['meeting.wav', Buffer.concat([head, data])]], 'cited');
    const completion = await openai.chat.completions.create({
      model: 'chatqna',
      messages: [{ role: 'user', content: 'What is the answer of the president?' }],
      // @ts-expect-error an extension of OpenAI's fields
      collection: 'cited',
    });
    const [annotation] = completion.choices[0]!.message.annotations ?? [];
    const cited = annotation?.url_citation as unknown as Record<string, unknown>;
    expect(cited).toMatchObject({
      filename: 'meeting.wav',
      time: expect.stringMatching(/^\d:\d\d–\d:\d\d$/),
    });
    // The sentence after the pause.
    const begin = (first.length - 44 + pause.length) / (2 * rate);
    expect(cited['start_seconds']).toBeGreaterThan(begin - 1);
    expect(cited['end_seconds']).toBeGreaterThan(begin + 1);
  });

  it('with a codec that cannot be read is refused by its name, and others are stored', async () => {
    const aac = await readFile(join(repositoryRoot, 'test/fixtures/asr/aac.m4a'));
    const webm = await readFile(join(repositoryRoot, 'test/fixtures/asr/opus.webm'));
    const { status, body } = await ingest(
      [
        ['speech.m4a', aac],
        ['speech.webm', webm],
      ],
      'codecs',
    );
    expect(status).toBe(200);
    expect(body['documents']).toMatchObject([{ filename: 'speech.webm', outcome: 'added' }]);
    expect(body['failed']).toMatchObject([
      {
        filename: 'speech.m4a',
        error: { code: 'unsupported_file', message: expect.stringMatching(/aac is not supported/i) },
      },
    ]);
  });

  it('is attached to a question', async () => {
    const audio = await speak(fact, 'mp3');
    const response = await openai.responses.create({
      model: 'chatqna',
      input: [
        {
          role: 'user',
          content: [
            {
              type: 'input_file',
              filename: 'talk.mp3',
              file_data: `data:audio/mpeg;base64,${audio.toString('base64')}`,
            },
            { type: 'input_text', text: 'What is the answer of the president?' },
          ],
        },
      ],
    });
    expect(response.output_text).toMatch(/forty two|42/i);
  });
});
