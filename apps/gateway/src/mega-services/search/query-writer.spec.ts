import { MegaNestError, type ChatMessage, type ModelInfo } from '#platform/contracts';
import type { CallOptions } from '#platform/messaging';
import { describe, expect, it } from 'vitest';
import { QueryWriter } from './query-writer.js';

const messages: ChatMessage[] = [
  { role: 'user', content: 'Who built it?', images: [{ url: 'data:image/png;base64,AAAA' }] },
];

/** `answer`: the reply of the language model's service. Without it, the model does not write. */
function writerOf(answer?: () => Promise<object>) {
  const asked: CallOptions[] = [];
  const requests: { messages: ChatMessage[] }[] = [];
  const client = {
    request: (_method: unknown, request: { messages: ChatMessage[] }, options: CallOptions) => {
      requests.push(request);
      asked.push(options);
      return answer!();
    },
  };
  const info = { id: 'm', ...(answer && { searchQueriesWithinMs: 1_000 }) } as ModelInfo;
  const writer = new QueryWriter(client as never, { llm: () => Promise.resolve(info) });
  return {
    write: (leftMs = 60_000) =>
      writer.write({ messages, languages: ['German'] }, { deadline: Date.now() + leftMs }),
    asked,
    requests,
  };
}

const late = () => Promise.reject(new MegaNestError('deadline_exceeded', { detail: '' }));

describe('QueryWriter', () => {
  it('returns the queries of the model', async () => {
    const { write, requests } = writerOf(() => Promise.resolve({ queries: ['a', 'b'] }));
    expect(await write()).toEqual({ queries: ['a', 'b'] });
    expect(requests).toEqual([
      { messages: [{ role: 'user', content: 'Who built it?' }], languages: ['German'] },
    ]);
  });

  it.each([
    ['a problem of the answer', () => Promise.resolve({ queries: [], problem: 'empty' }), 'empty'],
    ['a timeout', late, 'deadline_exceeded'],
    ['a broken engine', () => Promise.reject(new Error('reset')), 'internal_error'],
  ])('says that there is %s', async (_what, answer, problem) => {
    expect(await writerOf(answer).write()).toEqual({ queries: [], problem });
  });

  it('does not ask a model that does not write', async () => {
    const { write, asked } = writerOf();
    expect(await write()).toEqual({ queries: [] });
    expect(asked).toEqual([]);
  });

  it('gives the model its own limit, and a quarter of the time that is left at most', async () => {
    const { write, asked } = writerOf(() => Promise.resolve({ queries: [] }));
    await write(60_000);
    await write(2_000);
    const [roomy = 0, tight = 0] = asked.map(({ deadline }) => deadline! - Date.now());
    expect(roomy).toBeGreaterThan(500);
    expect(roomy).toBeLessThanOrEqual(1_000);
    expect(tight).toBeLessThanOrEqual(500);
  });

  it('does not ask a model that was late three times in a row', async () => {
    const { write, asked } = writerOf(late);
    for (let count = 0; count < 3; count += 1) await write();
    expect(await write()).toEqual({ queries: [], problem: 'paused' });
    expect(asked).toHaveLength(3);
  });

  it('goes on asking a model that refuses', async () => {
    const { write, asked } = writerOf(() => Promise.reject(new Error('reset')));
    for (let count = 0; count < 5; count += 1) await write();
    expect(asked).toHaveLength(5);
  });
});
