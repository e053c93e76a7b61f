import { expect, it } from 'vitest';
import { asksForQueries, startEngine } from './engine.js';

it('knows the call that asks for search queries', () => {
  const asks = (content: string) => asksForQueries([{ role: 'user', content }]);
  expect(
    asks('You write search queries for a search in documents. Answer with a JSON list of strings alone.'),
  ).toBe(true);
  expect(
    asks('### Search results:\n[1] Search queries are a JSON list.\n\n### Question: What is a JSON list?'),
  ).toBe(false);
});

it('records prompts for answers, and returns the queries of the question', async () => {
  const engine = await startEngine({ small: 2048 });
  const post = (content: string) =>
    fetch(`${engine.url}/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ messages: [{ role: 'user', content }] }),
    });
  try {
    const asking = 'You write search queries. Answer with a JSON list of strings.';
    expect((await post(asking)).status).toBe(503);
    engine.queries = ['a "quoted" query'];
    expect(await (await post(asking)).text()).toContain(String.raw`[\"a \\\"quoted`);
    await post('[1] evidence');
    expect(engine.prompts.map(({ messages }) => messages[0]!.content)).toEqual(['[1] evidence']);
    const list = (await (await fetch(`${engine.url}/v1/models`)).json()) as { data: object[] };
    expect(list.data).toEqual([{ id: 'small', object: 'model', owned_by: 'vllm', max_model_len: 2048 }]);
  } finally {
    await engine.close();
  }
});
