import { startStack, type TestStack } from '#platform/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { postJson } from './helpers/http.js';
import { ingestText } from './helpers/ingest.js';
import { lastText, startScriptedEngine, type ScriptedEngine } from './helpers/scripted-engine.js';

let stack: TestStack;
let engine: ScriptedEngine;
let url: string;

beforeAll(async () => {
  engine = await startScriptedEngine();
  stack = await startStack({ env: { LLM_ENDPOINT: engine.url } });
  url = stack.service('gateway').url;
  await ingestText(
    url,
    'office.md',
    '# Opening hours\n\nThe head office closes at 7 pm, on Fridays at 4 pm.',
  );
  await ingestText(
    url,
    'lärm.md',
    '# Lärm\n\nWann das Büro laut ist, weiß der Hausmeister. Er macht die Fenster zu.',
  );
  await ingestText(url, 'garden.md', '# Garden\n\nThe roses are watered by hand, and cut in autumn.');
  await ingestText(
    url,
    'avatar.md',
    '# Avatar\n\nThe avatar of a profile is a PNG or a GIF of 2 MB at most.',
  );
});
afterAll(async () => {
  await stack?.stop();
  engine?.close();
});

/** Asks for the one best passage; the engine writes these queries. Returns the prompt of the answer. */
async function promptOf(messages: object[], queries: string[], extra: object = {}): Promise<string> {
  let prompt = '';
  engine.script = (body) => {
    if (lastText(body).includes('### Last message:')) return { text: JSON.stringify(queries) };
    prompt = JSON.stringify(body.messages);
    return { text: 'It says so. [1]' };
  };
  const { status } = await postJson(`${url}/v1/chat/completions`, {
    model: 'chatqna',
    messages,
    k: 1,
    ...extra,
  });
  expect(status).toBe(200);
  return prompt;
}

const german = [{ role: 'user', content: 'Wann macht das Büro zu?' }];

describe('a question in another language than its document', () => {
  it('finds the document with the query that the engine writes', async () => {
    expect(await promptOf(german, [])).not.toContain('closes at 7 pm');
    const queries = ['Wann schließt das Büro?', 'When does the office close?'];
    expect(await promptOf(german, queries, { k: 2 })).toContain('closes at 7 pm');
  });
});

describe('the passage that the last answer cites', () => {
  it('is read again in the next turn, also where the search does not find it', async () => {
    const first = { role: 'user', content: 'What is the avatar of a profile?' };
    expect(await promptOf([first], [])).toContain('a PNG or a GIF');
    const answer = { role: 'assistant', content: 'It says so. [1]' };
    const next = { role: 'user', content: 'Who waters the roses in the garden by hand?' };
    const prompt = await promptOf([first, answer, next], []);
    expect(prompt).toContain('watered by hand');
    expect(prompt).toContain('a PNG or a GIF');
    const other = { role: 'assistant', content: 'Nothing is known of it.' };
    expect(await promptOf([first, other, next], [])).not.toContain('a PNG or a GIF');
  });

  it('is not read in another collection', async () => {
    const first = { role: 'user', content: 'What is the avatar of a profile?' };
    await promptOf([first], []);
    const answer = { role: 'assistant', content: 'It says so. [1]' };
    const next = { role: 'user', content: 'And how large is it?' };
    const prompt = await promptOf([first, answer, next], [], { collection: 'other' });
    expect(prompt).not.toContain('a PNG or a GIF');
  });
});
