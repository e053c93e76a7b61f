import { startStack, type TestStack } from '#platform/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startEngineStack, type EngineStack } from './helpers/engine-stack.js';
import { postJson } from './helpers/http.js';
import { ingestText } from './helpers/ingest.js';
import { lastText } from './helpers/scripted-engine.js';

interface Message {
  content: string;
  annotations?: {
    url_citation: { filename: string; quote: string; start_index: number; end_index: number };
  }[];
}

describe('a question about a whole document for the bundled models', () => {
  let stack: TestStack;
  const topics = [
    'harbour',
    'library',
    'museum',
    'garden',
    'theatre',
    'market',
    'station',
    'tower',
    'bridge',
  ];

  beforeAll(async () => {
    stack = await startStack();
    const { url } = stack.service('gateway');
    const town = topics.map(
      (topic) =>
        `## The ${topic}\n\nThe ${topic} of Zorvan opens at eight in the morning. Visitors of the ${topic} pay two crowns. ${'It is kept by the city and its friends. '.repeat(8)}`,
    );
    await ingestText(url, 'zorvan-guide.md', `# A guide to Zorvan\n\n${town.join('\n\n')}`);
    await ingestText(
      url,
      'terms-2025.md',
      '# Terms\n\nThe monthly fee is 20 crowns. Dogs may stay in the rooms.',
    );
    await ingestText(
      url,
      'terms-2026.md',
      '# Terms\n\nThe monthly fee is 25 crowns. Guests sign the visitor book.',
    );
  });
  afterAll(() => stack?.stop());

  async function ask(messages: string): Promise<Message> {
    const url = `${stack.service('gateway').url}/v1/chat/completions`;
    const { status, body } = await postJson(url, { model: 'chatqna', messages });
    expect({ status, body }).toMatchObject({ status: 200 });
    return (body as { choices: { message: Message }[] }).choices[0]!.message;
  }

  it('is answered with sentences of the document, each with its citation', async () => {
    const { content, annotations = [] } = await ask('Summarize the document zorvan-guide.md, please');
    expect(annotations.length).toBeGreaterThanOrEqual(3);
    for (const { url_citation: cited } of annotations) {
      expect(cited.filename).toBe('zorvan-guide.md');
      expect(content.slice(cited.start_index, cited.end_index)).toBe(cited.quote);
    }
    const named = topics.filter((topic) => content.includes(topic));
    expect(named.length).toBeGreaterThanOrEqual(2);
  });

  it('finds the document by its title', async () => {
    const { annotations = [] } = await ask('Give me a summary of the guide to Zorvan');
    expect(new Set(annotations.map(({ url_citation }) => url_citation.filename))).toEqual(
      new Set(['zorvan-guide.md']),
    );
  });

  it('compares two documents', async () => {
    const { content, annotations = [] } = await ask('What changed between terms-2025.md and terms-2026.md?');
    for (const text of ['20 crowns', '25 crowns', 'Dogs may stay', 'Guests sign'])
      expect(content).toContain(text);
    expect(new Set(annotations.map(({ url_citation }) => url_citation.filename)).size).toBe(2);
  });

  it('says which documents match, or that there is none', async () => {
    expect((await ask('Summarize the terms')).content).toMatch(
      /Several documents match “terms”.*terms-202\d\.md/,
    );
    expect((await ask('Summarize zorvan-giude-2.md')).content).toMatch(
      /no document named “zorvan-giude-2\.md”/,
    );
  });

  it('is not read from another collection', async () => {
    const url = `${stack.service('gateway').url}/v1/chat/completions`;
    const { body } = await postJson(url, { messages: 'Summarize zorvan-guide.md', collection: 'empty' });
    expect((body as { choices: { message: Message }[] }).choices[0]?.message.content).toMatch(
      /no document named/,
    );
  });
});

describe('a question about a whole document for an engine', () => {
  let stack: EngineStack;
  const passages = Array.from({ length: 60 }, (_unused, index) => ({
    id: `p-${index}`,
    text: `Fact ${index}: room ${index} belongs to team ${index}. ${'It has a door and a window. '.repeat(8)}`,
    score: 1,
    metadata: { document_id: 'd', filename: 'rooms.md', chunk_index: index, heading: 'Rooms' },
  }));
  const messages = 'Summarize rooms.md';

  beforeAll(async () => {
    stack = await startEngineStack({ model: { max_model_len: 4096, owned_by: 'vllm' } });
    const document = { id: 'd', filename: 'rooms.md' };
    stack.witness.named = { names: [{ kind: 'one', documents: [document] }], passages };
  });
  afterAll(() => stack?.stop());
  afterEach(() => {
    stack.engine.script = undefined;
  });

  it('is answered from notes of all its parts, and cites the passages', async () => {
    stack.engine.script = (body) =>
      lastText(body).startsWith('Take notes')
        ? { text: `Notes: ${/Fact (\d+): room/.exec(lastText(body))?.[0]}.` }
        : { text: 'Room 0 belongs to team 0 [1].' };
    const before = stack.engine.asked.length;
    const searched = stack.witness.searched.length;
    const { body } = await postJson(`${stack.gateway.url}/v1/chat/completions`, {
      model: 'chatqna',
      messages,
    });
    const [choice] = (body as { choices: { message: Message }[] }).choices;
    const asked = stack.engine.asked.slice(before).map(lastText);
    const maps = asked.filter((prompt) => prompt.startsWith('Take notes'));
    expect(maps.length).toBeGreaterThan(1);
    for (const { text } of passages) expect(maps.some((prompt) => prompt.includes(text))).toBe(true);
    const reduce = asked.find((prompt) => prompt.includes('[2] rooms.md, part 2 of'));
    expect(reduce).toContain(messages);
    expect(choice?.message.content).toBe('Room 0 belongs to team 0 [1].');
    expect(choice?.message.annotations?.[0]?.url_citation).toMatchObject({
      filename: 'rooms.md',
      quote: expect.stringContaining('room 0 belongs to team 0') as string,
    });
    expect(stack.witness.searched).toHaveLength(searched);
  });

  it('is one prompt for a short document', async () => {
    stack.witness.named = { ...stack.witness.named!, passages: passages.slice(0, 20) };
    const before = stack.engine.asked.length;
    await postJson(`${stack.gateway.url}/v1/chat/completions`, { model: 'chatqna', messages });
    const answering = stack.engine.asked.slice(before).map(lastText);
    const prompt = answering.find((text) => text.includes('Fact 0:'));
    for (const { text } of passages.slice(0, 20)) expect(prompt).toContain(text.split('.')[0]);
    expect(answering.some((text) => text.startsWith('Take notes'))).toBe(false);
  });
});
