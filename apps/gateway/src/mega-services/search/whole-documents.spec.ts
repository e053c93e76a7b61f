import { MegaNestError } from '#platform/contracts';
import { describe, expect, it } from 'vitest';
import { tryWholeDocuments } from './whole-documents.js';

const handbook = { id: '1', filename: 'handbook.md', title: 'Employee handbook' };
const passage = { id: 'p', text: 'Tea is free.', score: 1, metadata: {} };

async function read(question: string, reply: unknown, reads?: { tokens: number; passages: number }) {
  const requests: unknown[] = [];
  const client = {
    request: (_method: unknown, request: unknown) => {
      requests.push(request);
      return reply instanceof Error ? Promise.reject(reply) : Promise.resolve(reply);
    },
  };
  const parameters = { collection: 'c', filter: { team: 'x' }, k: 20 };
  const reading = { client: client as never, options: {} as never, parameters, reads };
  return { whole: await tryWholeDocuments(question, reading), requests };
}

describe('tryWholeDocuments', () => {
  const one = { names: [{ kind: 'one', documents: [handbook], isCut: true }], passages: [passage] };
  const none = { names: [{ kind: 'none', documents: [handbook] }], passages: [] };
  const several = { names: [{ kind: 'several', documents: [handbook, handbook] }], passages: [] };

  it('reads the named document within the collection and the filter', async () => {
    const { whole, requests } = await read('Summarize handbook.md', one, { tokens: 1_000, passages: 40 });
    expect(requests).toEqual([
      { collection: 'c', filter: { team: 'x' }, names: ['handbook.md'], max_words: 64_000 },
    ]);
    expect(whole).toEqual({ kind: 'summary', passages: [passage], cut: ['handbook.md (Employee handbook)'] });
  });

  it.each([
    ['Summarize hanbook.md', none, /no document named “hanbook\.md”.*handbook\.md/],
    ['Summarize the handbook', several, /Several documents match “handbook”: .*Which one/],
  ])('says what is unclear in %s', async (question, reply, notice) => {
    expect((await read(question, reply)).whole?.notice).toMatch(notice);
  });

  it.each([
    ['a topic', 'Summarize the travel rules', none],
    ['a topic of several documents', 'What is the handbook about?', several],
    [
      'two names of one document',
      'What changed from version 2 to version 3?',
      { names: [one.names[0], one.names[0]], passages: [passage] },
    ],
    ['a part of a document', 'Summarize chapter 3 of handbook.md', none],
    [
      'a service that is away',
      'Summarize handbook.md',
      new MegaNestError('service_unavailable', { service: 'retrieval', detail: '' }),
    ],
  ])('leaves %s to the search', async (_name, question, reply) => {
    expect((await read(question, reply)).whole).toBeUndefined();
  });

  it('asks nothing for other questions', async () => {
    expect(await read('When does the office open?', one)).toEqual({ whole: undefined, requests: [] });
  });
});
