import { readdirSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { deflateSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { lines, makePdf } from '../../../../test/fixtures/dataprep/make-pdf.js';
import { DocumentPreparer, type PreparerLimits } from './document-preparer.js';
import type { ReadingPart } from './prepare-document.js';

const megabyte = 1024 * 1024;
const size = 32 * 1024;
const filled = (unit: string) => unit.repeat(Math.floor(size / unit.length));
const page = (body: string) => `<html><body>${body}</body></html>`;
const running: DocumentPreparer[] = [];

function open(limits: Partial<PreparerLimits> = {}): DocumentPreparer {
  const preparer = new DocumentPreparer(limits);
  running.push(preparer);
  return preparer;
}

const prepare = (
  preparer: DocumentPreparer,
  filename: string,
  content: string | Uint8Array,
  signal = new AbortController().signal,
) => {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  const chunking = { chunkSize: 90, chunkOverlap: 10 };
  return preparer.prepare({ file: { filename, mimeType: '', bytes }, chunking }, signal);
};

/** A PDF of one page whose content is small on disk and large in memory. */
function bomb(megabytes: number): Buffer {
  const content = deflateSync(
    Buffer.concat([Buffer.from('BT ET\n'), Buffer.alloc(megabytes * megabyte, 0x20)]),
  );
  const small = makePdf([lines(['Hello.'])]).toString('latin1');
  const [head = '', , tail = ''] = small.split(/(<< \/Length \d+ >>\nstream\n[^]*?\nendstream)/);
  const stream = `<< /Length ${content.length} /Filter /FlateDecode >>\nstream\n${content.toString('latin1')}\nendstream`;
  return Buffer.from(head + stream + tail, 'latin1');
}

/** The processes that this one has started. */
function children(): number[] {
  const tasks = readdirSync('/proc/self/task').map((task) => `/proc/self/task/${task}/children`);
  return tasks.flatMap((path) => readFileSync(path, 'utf8').split(' ').filter(Boolean).map(Number));
}

describe('DocumentPreparer', () => {
  afterEach(() => {
    for (const preparer of running.splice(0)) preparer.onApplicationShutdown();
  });

  it('tells the pages of a long document that are read', async () => {
    const bytes = makePdf(Array.from({ length: 30 }, (_unused, page) => lines([`Page ${page} is here.`])));
    const file = { filename: 'a.pdf', mimeType: '', bytes };
    const parts: ReadingPart[] = [];
    const chunking = { chunkSize: 90, chunkOverlap: 10 };
    await open().prepare({ file, chunking }, new AbortController().signal, (part) => parts.push(part));
    expect(parts.at(-1)).toEqual({ unit: 'page', completed: 30, total: 30 });
    const completed = parts.map((part) => part.completed);
    expect(completed).toEqual(completed.toSorted((one, other) => one - other));
  });

  it('reads in a process, and the next document in the same one', async () => {
    const preparer = open();
    for (const word of ['one', 'two']) {
      const { title, chunks } = await prepare(preparer, 'a.md', `# Title\n\nText ${word}.`);
      expect({ title, text: chunks[0]?.text }).toEqual({ title: 'Title', text: `Text ${word}.` });
    }
  });

  it.runIf(process.platform === 'linux')(
    'has a process ready for another client while several documents are read, and lets the service go first',
    async () => {
      const preparer = open();
      const before = new Set(children());
      const started = () => children().filter((pid) => !before.has(pid));
      await prepare(preparer, 'a.md', '# Title');
      expect(started()).toHaveLength(1);
      await Promise.all([prepare(preparer, 'a.md', '# Title'), prepare(preparer, 'b.md', '# Title')]);
      expect(started()).toHaveLength(3);
      const readers = started().slice(0, 2);
      expect(readers.map((pid) => getPriority(pid))).toEqual(readers.map(() => Math.max(5, getPriority())));
    },
  );

  it.each([
    ['a.md', '1. 1. 1. …', filled('1. '), 'nested too deeply', 60_000],
    ['a.md', '> > > …', filled('> '), 'nested too deeply', 60_000],
    ['a.md', '~a~a~a …', filled('~a'), 'takes more than 0.5 s of processor time', 500],
    ['a.html', 'deep elements', page(filled('<div>')), 'nested too deeply', 60_000],
  ])('gives up on %s of %s, without holding the event loop', async (filename, _what, content, reason, ms) => {
    const delay = monitorEventLoopDelay();
    delay.enable();
    await expect(prepare(open({ leastMs: ms, mostMs: ms }), filename, content)).rejects.toMatchObject({
      code: 'unsupported_file',
      message: expect.stringContaining(reason),
    });
    expect(delay.max / 1e6).toBeLessThan(1_000);
  });

  it('limits the processor time of reading, not the time by the clock', async () => {
    // The start of the process alone takes about as long. A first document of 32 KiB takes half of it, later ones less.
    const preparer = open({ leastMs: 500, mostMs: 500 });
    expect((await prepare(preparer, 'a.md', '# Title\n\nText.')).title).toBe('Title');
    // Nor does the limit add up over the documents of a process.
    for (let count = 0; count < 20; count += 1) await prepare(preparer, 'b.md', filled('word '));
  });

  it('asks to try again where a second process was too slow by the clock, too', async () => {
    const slow = open({ clockFactor: 0.001, leastMs: 1_000, mostMs: 1_000 });
    await expect(prepare(slow, 'a.md', '# Title')).rejects.toMatchObject({
      code: 'deadline_exceeded',
      message: expect.stringContaining('The machine is busy; try again'),
    });
  });

  it('reads tables within tables in linear time', async () => {
    const nested = `${'<table><tr><td>'.repeat(200)}deep${'</td></tr></table>'.repeat(200)}`;
    const { chunks } = await prepare(open(), 'a.html', page(nested));
    expect(chunks.map(({ text }) => text)).toEqual(['deep']);
  });

  it('ends with a document that takes too much memory, and reads the next one', async () => {
    const preparer = open({ maxMemoryBytes: 400 * megabyte });
    const content = bomb(800);
    expect(content.length).toBeLessThan(megabyte);
    await expect(prepare(preparer, 'bomb.pdf', content)).rejects.toMatchObject({
      code: 'unsupported_file',
      message: expect.stringContaining('it takes more than 400 MB of memory'),
    });
    const { chunks } = await prepare(preparer, 'a.pdf', makePdf([lines(['Hello there.'])]));
    expect(chunks.map(({ text }) => text)).toEqual(['Hello there.']);
  });

  it('stops at once when it is cancelled', async () => {
    const abort = new AbortController();
    const reading = prepare(open(), 'a.md', filled('~a'), abort.signal);
    abort.abort();
    await expect(reading).rejects.toMatchObject({ code: 'cancelled' });
  });
});
