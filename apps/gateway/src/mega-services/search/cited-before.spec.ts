import type { ChatMessage, GenerationChunk, RetrievedDocument } from '#platform/contracts';
import type { CitedPassage } from '#platform/storage';
import { describe, expect, it } from 'vitest';
import { CitedBefore } from './cited-before.js';

const documents: RetrievedDocument[] = [1, 2].map((number) => ({
  id: `chunk-${number}`,
  text: '',
  score: 1,
  metadata: { document_id: `document-${number}` },
}));
const asked: ChatMessage[] = [{ role: 'user', content: 'Who built it?' }];
const citing = (text: string, ...ids: string[]): GenerationChunk => ({
  choice: 0,
  text,
  citations: ids.map((documentId) => ({ startIndex: 0, endIndex: 1, passage: 1, documentId, quote: '' })),
});

function memory(find?: () => Promise<never>) {
  const kept = new Map<string, readonly CitedPassage[]>();
  const before = new CitedBefore({
    keep: (key, passages) => Promise.resolve(void kept.set(key, passages)),
    find:
      find ??
      ((keys) =>
        Promise.resolve(
          new Map(keys.flatMap((key) => (kept.has(key) ? [[key, kept.get(key)!] as const] : []))),
        )),
  });
  const answer = async (chunks: GenerationChunk[], { messages = asked, owner = 'alice' } = {}) => {
    async function* stream() {
      await Promise.resolve();
      yield* chunks;
    }
    const passed: GenerationChunk[] = [];
    for await (const chunk of before.watch(stream(), { messages, owner, documents: () => documents }))
      passed.push(chunk);
    return passed;
  };
  return { before, kept, answer };
}

const next = (answer: string, question = 'Who built it?'): ChatMessage[] => [
  { role: 'user', content: question },
  { role: 'assistant', content: answer },
  { role: 'user', content: 'When?' },
];
const nothing = { documents: [], passages: [] };

describe('CitedBefore', () => {
  it('passes an answer on, and finds its passages by its text in the next turn', async () => {
    const { before, answer } = memory();
    const chunks = [citing('Ann Lee '), citing('built it. [2][1]', 'chunk-2', 'chunk-1')];
    expect(await answer(chunks)).toEqual(chunks);
    const found = { documents: ['document-2', 'document-1'], passages: ['chunk-2', 'chunk-1'] };
    expect(await before.find(next('Ann Lee built it. [2][1]'), 'alice')).toEqual(found);
    // Clients change white space and Markdown, and some remove the markers.
    expect(await before.find(next('\n**Ann Lee** built it.'), 'alice')).toEqual(found);
  });

  it('does not find it for another owner, question or answer', async () => {
    const { before, answer } = memory();
    await answer([citing('Ann Lee built it. [2]', 'chunk-2')]);
    expect(await before.find(next('Ann Lee built it. [2]'), 'bob')).toEqual(nothing);
    expect(await before.find(next('Ann Lee built it. [2]', 'Who burned it?'), 'alice')).toEqual(nothing);
    expect(await before.find(next('Ann Lee built all.'), 'alice')).toEqual(nothing);
    expect(await before.find(asked, 'alice')).toEqual(nothing);
  });

  it('prefers the documents of three answers, and keeps the passages of the last one', async () => {
    const { before, answer } = memory();
    await answer([citing('One.', 'chunk-1')]);
    const second = next('One.');
    await answer([citing('Two.', 'chunk-2')], { messages: second });
    const third: ChatMessage[] = [
      ...second,
      { role: 'assistant', content: 'Two.' },
      { role: 'user', content: 'Why?' },
    ];
    expect(await before.find(third, 'alice')).toEqual({
      documents: ['document-2', 'document-1'],
      passages: ['chunk-2'],
    });
  });

  it('keeps nothing of an answer without citations, and the passages of an answer that was left', async () => {
    const { before, kept, answer } = memory();
    await answer([citing('Hello!')]);
    expect(kept.size).toBe(0);
    async function* stream() {
      await Promise.resolve();
      yield citing('Ann', 'chunk-1');
      yield citing(' Lee');
    }
    const watched = before.watch(stream(), { messages: asked, owner: 'alice', documents: () => documents });
    await watched.next();
    await watched.return(undefined);
    expect((await before.find(next('Ann'), 'alice')).passages).toEqual(['chunk-1']);
  });

  it('finds nothing where the database is away or slow', async () => {
    const away = memory(() => Promise.reject(new Error('away'))).before;
    expect(await away.find(next('One.'), 'alice')).toEqual(nothing);
    const slow = memory(() => new Promise(() => undefined)).before;
    expect(await slow.find(next('One.'), 'alice')).toEqual(nothing);
  });
});
