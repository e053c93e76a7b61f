import {
  joinPieces,
  MegaNestError,
  textOfAttached,
  type ChatMessage,
  type ModelInfo,
} from '#platform/contracts';
import { describe, expect, it } from 'vitest';
import { asksForFiles, AttachedFiles, hasFiles, leavesOut, maxFilePassages } from './attached-files.js';

const user = (...parts: (string | { filename: string; text: string })[]): ChatMessage => ({
  role: 'user',
  ...joinPieces(
    parts.map((part) =>
      typeof part === 'string'
        ? { text: part }
        : { text: textOfAttached(part, part.text), file: { filename: part.filename } },
    ),
  ),
});
const ferry = { filename: 'ferry.txt', text: 'The ferry runs on plum juice.' };
const paragraph = (index: number) => `Machine ${index} ${'has parts in the hall '.repeat(18)}.`;
const book = {
  filename: 'book.txt',
  text: Array.from({ length: 200 }, (_unused, index) => (index === 150 ? ferry.text : paragraph(index))).join(
    '\n\n',
  ),
};

interface Ranking {
  texts: string[];
  query: string;
  top_n: number;
}

/** `rank`: the reply of the reranker. */
function reader(rank?: (request: Ranking) => Promise<object>) {
  const asked: Ranking[] = [];
  const client = {
    request: (_method: unknown, request: Ranking) => {
      asked.push(request);
      return rank!(request);
    },
  };
  const files = new AttachedFiles(client as never);
  const read = (messages: ChatMessage[], max = 4, question = 'What does the ferry run on?', call = {}) =>
    files.read(messages, { question, max }, call);
  return { read, asked };
}

/** Ranks the last text first. */
const lastFirst = ({ texts }: Ranking) =>
  Promise.resolve({ results: [{ index: texts.length - 1, score: 0.5 }] });

describe('AttachedFiles', () => {
  it('reads a short file whole, in its order, without the reranker', async () => {
    const question = 'What does the ferry run on?';
    const { messages, documents, total } = await reader().read([user(ferry, question)]);
    expect(messages).toEqual([{ role: 'user', content: question }]);
    expect(documents).toMatchObject([{ text: ferry.text, metadata: { filename: 'ferry.txt' } }]);
    expect(total).toBe(1);
  });

  it('lets the reranker choose passages of a long file, among those with the words of the question', async () => {
    const { read, asked } = reader(lastFirst);
    const { documents, total } = await read([user(book, 'What does the ferry run on?')]);
    expect(asked[0]).toMatchObject({ query: 'What does the ferry run on?', top_n: 4, fusion: 'none' });
    expect(asked[0]?.texts).toHaveLength(64);
    expect(asked[0]?.texts[0]).toContain(ferry.text);
    expect(documents).toMatchObject([{ text: asked[0]?.texts.at(-1), score: 0.5 }]);
    expect(total).toBeGreaterThan(150);
  });

  it.each([
    ['is away', new MegaNestError('service_unavailable', { service: 'reranking', detail: '' })],
    ['is late', new MegaNestError('deadline_exceeded', { detail: '' })],
  ])('chooses by words while the reranker %s', async (_state, error) => {
    const { read } = reader(() => Promise.reject(error));
    const { documents, problem } = await read([user(book, 'What does the ferry run on?')]);
    expect(problem).toBe(error.code);
    expect(documents).toHaveLength(4);
    expect(documents[0]?.text).toContain(ferry.text);
  });

  it('ends with the request', async () => {
    const { read } = reader(() => Promise.reject(new MegaNestError('cancelled')));
    const call = { signal: AbortSignal.abort() };
    await expect(read([user(book, 'Which machine?')], 4, 'Which machine?', call)).rejects.toMatchObject({
      code: 'cancelled',
    });
  });

  it('reads the files of all turns, each once, and drops turns that only had files', async () => {
    const other = { filename: 'other.txt', text: 'The tower is green.' };
    const turns: ChatMessage[] = [
      user(ferry),
      { role: 'assistant', content: 'Thanks.' },
      user(other, ferry, 'Which color?'),
    ];
    const { messages, documents } = await reader().read(turns);
    expect(messages).toEqual([turns[1], { role: 'user', content: 'Which color?' }]);
    expect(documents.map(({ metadata }) => metadata['filename'])).toEqual(['ferry.txt', 'other.txt']);
  });

  it('reads the beginnings of the files without a question about them', async () => {
    const { read, asked } = reader();
    const { messages, documents } = await read([user(book, ferry)]);
    expect(messages).toEqual([{ role: 'user', content: 'Summarize the file.' }]);
    expect(asked).toEqual([]);
    expect(documents.map(({ metadata }) => [metadata['filename'], metadata['chunk_index']])).toEqual([
      ['book.txt', 0],
      ['book.txt', 1],
      ['book.txt', 2],
      ['ferry.txt', 0],
    ]);
  });
});

it('leavesOut tells whether all passages are read', () => {
  expect(leavesOut([user(ferry, 'x')], 1)).toBe(false);
  expect(leavesOut([user(ferry, 'x')], 0)).toBe(true);
  expect(leavesOut([user(book, 'x')], 4)).toBe(true);
  expect(leavesOut([user('x')], 0)).toBe(false);
});

it('asksForFiles is true for a question about files as a whole', () => {
  expect(asksForFiles([user(ferry)])).toBe(true);
  expect(asksForFiles([user(ferry), user('What is in this file?')])).toBe(true);
  expect(asksForFiles([user(ferry, 'What does it run on?')])).toBe(false);
  expect(asksForFiles([user('What is this?')])).toBe(false);
  expect(hasFiles([user('What is this?')])).toBe(false);
});

it('maxFilePassages grows with the window of a model that writes', () => {
  const info = (maxInputTokens: number, quotesDocuments?: boolean) =>
    ({ maxInputTokens, quotesDocuments }) as ModelInfo;
  expect(maxFilePassages(info(32_768, true))).toBe(4);
  expect(maxFilePassages(info(512))).toBe(4);
  expect(maxFilePassages(info(8_192))).toBe(23);
  expect(maxFilePassages(info(1_000_000))).toBe(100);
});
