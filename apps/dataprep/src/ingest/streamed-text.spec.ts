import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { makeZip } from '../../../../test/fixtures/dataprep/make-zip.js';
import type { PreparedDocument } from './prepare-document.js';
import { inspectText, prepareSections, sectionsOfText } from './streamed-text.js';

const { signal } = new AbortController();

/** Bytes in pieces of a size, so that characters are cut. */
async function* piecesOf(bytes: Uint8Array, size = 1_000): AsyncGenerator<Uint8Array, void, void> {
  await Promise.resolve();
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}

const inspect = (bytes: Uint8Array, filename = 'a.txt') =>
  inspectText(() => piecesOf(bytes), { filename, mimeType: '' }, signal);

/** Larger than the head that tells the type. */
const longText = 'Grüße aus Köln, wo der Rhein fließt.\n\n'.repeat(3_000);

describe('inspectText', () => {
  it('finds hash, size and encoding in one pass', async () => {
    const bytes = Buffer.from(longText);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    expect(await inspect(bytes)).toEqual({ sha256, bytes: bytes.length, encoding: 'utf-8' });
    expect(await inspect(Buffer.from(longText, 'latin1'))).toMatchObject({ encoding: 'windows-1252' });
  });

  it('leaves other types to their readers, and refuses binary data', async () => {
    expect(await inspect(Buffer.from(longText), 'a.md')).toBeUndefined();
    expect(await inspect(Buffer.from(`<!doctype html>${longText}`))).toBeUndefined();
    expect(await inspect(Buffer.from(longText, 'utf16le'))).toBeUndefined();
    const zip = makeZip({ 'a.bin': randomBytes(200_000) });
    expect(await inspect(zip, 'a.docx')).toBeUndefined();
    await expect(inspect(Buffer.alloc(100_000))).rejects.toMatchObject({ code: 'unsupported_file' });
  });
});

describe('sectionsOfText', () => {
  it.each([
    ['blank lines', longText, /\n\n$/],
    ['lines', 'A line of its own.\n'.repeat(2_000), /[^\n]\n$/],
    ['words', 'word '.repeat(4_000), / $/],
    ['nothing', 'ß'.repeat(25_000), /ß$/],
  ])('cuts at %s and loses no character', async (_name, text, end) => {
    const sections = await all(sectionsOfText(piecesOf(Buffer.from(text), 777), 'utf-8', 5_000));
    expect(sections.join('')).toBe(text);
    expect(sections.length).toBeGreaterThan(2);
    for (const section of sections.slice(0, -1)) {
      expect(section).toMatch(end);
      expect(section.length).toBeLessThanOrEqual(5_000);
      expect(section.length).toBeGreaterThan(2_000);
    }
  });

  it('cuts a text that is mostly blank lines', async () => {
    const text = `${'\n'.repeat(1_000_000)}word `.repeat(2);
    const sections = await all(sectionsOfText(piecesOf(Buffer.from(text), 100_000), 'utf-8'));
    expect(sections.join('')).toBe(text);
    expect(sections).toHaveLength(2);
  });

  it('reads 64 MB with no more than a section ahead of the reader', async () => {
    const line = Buffer.from(`${'word '.repeat(200)}\n\n`);
    let read = 0;
    const source = async function* () {
      for (let count = 0; count < 64_000; count += 1) {
        read += line.length;
        yield await Promise.resolve(line);
      }
    };
    let taken = 0;
    let most = 0;
    for await (const section of sectionsOfText(source(), 'utf-8')) {
      taken += section.length;
      most = Math.max(most, read - taken);
    }
    expect(taken).toBe(64_000 * line.length);
    expect(most).toBeLessThan(4 * 1024);
  });
});

describe('prepareSections', () => {
  const documentOf = (text: string, title?: string): PreparedDocument => ({
    ...(title && { title }),
    chunks: [{ text, words: 1, headings: [] }],
  });

  it('prepares one section while the one before it is used, and gives all of them the title', async () => {
    const asked: string[] = [];
    async function* sections() {
      await Promise.resolve();
      yield* ['one', ' \n ', 'two', 'three', 'four'];
    }
    const prepared = prepareSections(sections(), { encoding: 'windows-1252', confidence: 0.5 }, (section) => {
      asked.push(section);
      return Promise.resolve(documentOf(section, section === 'one' ? 'Title' : undefined));
    });
    const first = await prepared.next();
    expect(first.value).toEqual({
      ...documentOf('one', 'Title'),
      assumedEncoding: 'windows-1252',
      facts: { encoding: 'windows-1252', encodingConfidence: 0.5 },
      warnings: [{ code: 'encoding_guessed', message: expect.stringContaining('windows-1252') as string }],
    });
    expect(asked).toEqual(['one', 'two']);
    const rest = await all(prepared);
    expect(rest.map(({ title, chunks }) => [title, chunks[0]?.text])).toEqual([
      ['Title', 'two'],
      ['Title', 'three'],
      ['Title', 'four'],
    ]);
  });

  it('fails where a section fails', async () => {
    async function* sections() {
      await Promise.resolve();
      yield* ['one', 'two'];
    }
    const prepare = (section: string) =>
      section === 'two' ? Promise.reject(new Error('broken')) : Promise.resolve(documentOf(section));
    const prepared = prepareSections(sections(), { encoding: 'utf-8' }, prepare);
    await prepared.next();
    await expect(prepared.next()).rejects.toThrow('broken');
  });
});
