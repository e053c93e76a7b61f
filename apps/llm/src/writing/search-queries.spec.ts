import type { ChatMessage, GenerationChunk } from '#platform/contracts';
import { describe, expect, it } from 'vitest';
import type { GenerateRequest } from '../tools/tool-format.js';
import { queriesWith } from './search-queries.js';

const usage = { promptTokens: 9, completionTokens: 3, cachedTokens: 0 };
const today = new Date(2026, 10, 26, 12);

/** A model that always gives the same answer, and keeps what it was asked. */
function model(text: string, finishReason: GenerationChunk['finishReason'] = 'stop') {
  const asked: GenerateRequest[] = [];
  async function* ask(request: GenerateRequest): AsyncGenerator<GenerationChunk> {
    asked.push(request);
    for (const piece of text.split(/(?<=\s)/)) yield { choice: 0, text: piece };
    yield { choice: 0, text: '', finishReason, usage };
  }
  const write = (messages: readonly ChatMessage[], languages?: string[]) =>
    queriesWith({ messages, languages, today }, ask);
  return { write, asked, prompt: () => asked[0]?.messages[0]?.content ?? '' };
}

const turns = (...texts: string[]): ChatMessage[] =>
  texts.map((content, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', content }));
const query = 'Who paid for the Zorvan observatory?';
const list = JSON.stringify([query, 'sponsor of the Zorvan observatory']);
const dialogue = turns(
  'Who built the Zorvan observatory?',
  'The Zorvan observatory was built by Ann Lee in 1930. [1]',
  'and who paid for it?',
);

describe('queriesWith', () => {
  it('returns the queries of the model, for a first message too', async () => {
    const queries = [query, 'sponsor of the Zorvan observatory'];
    expect(await model(list).write(dialogue)).toEqual({ queries, usage });
    expect(await model(list).write(turns('Was kostet es?'))).toEqual({ queries, usage });
    expect(await model('[]').write(dialogue)).toEqual({ queries: [], usage });
  });

  it('shows the model the date and the turns before, without the marks of citations', async () => {
    const { write, prompt } = model(list);
    await write(dialogue);
    expect(prompt()).toContain('Today is Thursday, 2026-11-26.');
    expect(prompt()).toContain(
      'User: Who built the Zorvan observatory?\nAssistant: The Zorvan observatory was',
    );
    expect(prompt()).toMatch(/1930\.\n\n### Last message:\nand who paid for it\?$/);
  });

  it('asks for a query in the language of the documents, or in English', async () => {
    const unknown = model(list);
    await unknown.write(dialogue);
    expect(unknown.prompt()).toContain('add a query in English');
    const known = model(list);
    await known.write(dialogue, ['German']);
    expect(known.prompt()).toContain('The documents are in German.');
    expect(known.prompt()).not.toContain('add a query in English');
  });

  it.each([
    ['an empty answer', '', 'empty'],
    ['an answer of other signs', '…', 'empty'],
  ])('reports %s', async (_what, answer, problem) => {
    expect(await model(answer).write(dialogue)).toEqual({ queries: [], problem, usage });
  });

  it('keeps the whole queries of an answer that was cut', async () => {
    expect(await model(`["${query}", "spons`, 'length').write(dialogue)).toMatchObject({ queries: [query] });
  });

  it('stops a model that goes on and on', async () => {
    let written = 0;
    async function* ask(): AsyncGenerator<GenerationChunk> {
      for (;;) {
        written += 1;
        await Promise.resolve();
        yield { choice: 0, text: 'and so on ' };
      }
    }
    expect(await queriesWith({ messages: dialogue, today }, ask)).toEqual({
      queries: [],
      problem: 'too_long',
    });
    expect(written).toBeLessThan(300);
  });

  it('does not ask without a message', async () => {
    const { write, asked } = model(list);
    expect(await write([{ role: 'system', content: 'Be brief.' }])).toEqual({ queries: [] });
    expect(await write(turns(' '))).toEqual({ queries: [] });
    expect(asked).toEqual([]);
  });

  it('shows the beginning and the end of a long message', async () => {
    const { write, prompt } = model(list);
    await write(turns(`First question. ${'filler '.repeat(5_000)} Last question?`));
    expect(prompt()).toContain('First question.');
    expect(prompt()).toMatch(/Last question\?$/);
    expect(prompt().length).toBeLessThan(8_000);
  });

  it('asks with a bounded prompt, however long the conversation is', async () => {
    const { write, prompt } = model(list);
    const long = Array.from({ length: 101 }, (_unused, index) => `${'x'.repeat(5_000)} ${index}`);
    await write(turns(...long, 'y', 'and who paid for it?').slice(1));
    expect(prompt().length).toBeLessThan(9_000);
  });
});
