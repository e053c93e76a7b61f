import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startEngineStack, type EngineStack } from './helpers/engine-stack.js';
import { lastText } from './helpers/scripted-engine.js';
import { scriptedDocuments } from './helpers/scripted-services.js';

const noAnswer = 'I could not find the answer in the provided documents.';
const nothingFound = 'The search found nothing.';
const window = 4096;
let stack: EngineStack;

beforeAll(async () => {
  stack = await startEngineStack({ model: { max_model_len: window, owned_by: 'vllm' } });
});
afterAll(() => stack?.stop());
afterEach(() => {
  stack.engine.script = undefined;
  stack.witness.found = scriptedDocuments;
  stack.witness.neighbours = [];
});

async function chat(body: object, path = '/v1/chat/completions') {
  const before = stack.engine.asked.length;
  const response = await stack.post(path, { model: 'chatqna', stream: false, ...body });
  const answer = (await response.json()) as { choices: { message: { content: string } }[] };
  expect({ status: response.status, answer }).toMatchObject({ status: 200 });
  return {
    content: answer.choices[0]?.message.content,
    asked: stack.engine.asked.slice(before),
    ignored: response.headers.get('x-meganest-ignored'),
    degraded: response.headers.get('x-meganest-degraded'),
  };
}

const many = (count: number, text: string) =>
  Array.from({ length: count }, (_unused, index) => ({
    id: `many-${index}`,
    text: `Number ${index}: ${text}`,
    score: 1 - index / 1000,
    metadata: {},
  }));

describe('a question for which the search finds nothing', () => {
  it('is answered without the engine', async () => {
    stack.witness.found = [];
    const { content, asked } = await chat({ messages: 'Who was the first man on the moon?' });
    expect(content).toBe(noAnswer);
    expect(asked).toEqual([]);
  });

  it('is refused in the language of the question', async () => {
    stack.witness.found = [];
    const { content, asked } = await chat({ messages: 'Wer war der erste Mensch auf dem Mond?' });
    expect(content).toBe('Ich konnte die Antwort in den vorliegenden Dokumenten nicht finden.');
    expect(asked).toEqual([]);
  });

  it('is answered by an engine that may use general knowledge, which is told the collection', async () => {
    const knowing = await startEngineStack({ env: { LLM_GENERAL_KNOWLEDGE: 'true' } });
    try {
      knowing.witness.found = [];
      const body = {
        model: 'chatqna',
        messages: 'Who was the first man on the moon?',
        collection: 'manuals',
      };
      expect((await knowing.post('/v1/chat/completions', body)).status).toBe(200);
      const answering = knowing.engine.asked.at(-1)!;
      expect(answering.messages[0]?.content).toMatch(/found nothing.*general knowledge; then say first/);
      expect(lastText(answering)).toContain('The search found nothing in the collection "manuals".');
    } finally {
      await knowing.stop();
    }
  });

  it.each<[string, object]>([
    ['small talk', { messages: 'Hello!' }],
    [
      'a follow-up',
      {
        messages: [
          { role: 'user', content: 'Who built it?' },
          { role: 'assistant', content: 'Ann Lee.' },
          { role: 'user', content: 'Put it into a table' },
        ],
      },
    ],
    [
      'a question with tools',
      { messages: 'What is the weather?', tools: [{ type: 'function', function: { name: 'weather' } }] },
    ],
  ])('reaches the engine with its instructions if it is %s', async (_name, body) => {
    stack.witness.found = [];
    const { asked } = await chat(body);
    const answering = asked.at(-1)!;
    expect(answering.messages[0]).toMatchObject({ role: 'system' });
    expect(lastText(answering)).toContain(nothingFound);
  });
});

describe('a file in a message', () => {
  const content = (text: string, question: string) => [
    { type: 'file', file: { filename: 'a.txt', file_data: Buffer.from(text).toString('base64') } },
    { type: 'text', text: question },
  ];

  it('is a text in the message for the engine itself', async () => {
    const [{ id: model } = { id: '' }] = (
      (await (await fetch(`${stack.llm.url}/v1/models`)).json()) as { data: { id: string }[] }
    ).data;
    const messages = [{ role: 'user', content: content('It is plum.', 'What is it?') }];
    const { asked } = await chat({ model, messages });
    expect(lastText(asked[0]!)).toBe('a.txt:\nIt is plum.\nWhat is it?');
  });

  it('is labelled passages before those of the search for a mega service', async () => {
    const messages = [{ role: 'user', content: content('It is plum.', 'What does passage one say?') }];
    const { asked } = await chat({ messages });
    expect(stack.witness.searched.at(-1)).toBe('What does passage one say?');
    const prompt = lastText(asked[0]!);
    expect(prompt).toContain('[1] attached file a.txt\nIt is plum.');
    expect(prompt).toContain(`[2] file-1.md\n${scriptedDocuments[0]!.text}`);
  });
});

describe('the citations of an engine', () => {
  const messages = [{ role: 'user', content: 'What do the passages say?' }];
  const answer = 'Passage 2 says two【2†source】. Passage 1 says one (source 1). All is well [9].';
  const shown = 'Passage 2 says two [1]. Passage 1 says one [2]. All is well.';

  it('are the sentences of the passages, whole and streamed, with the coverage', async () => {
    stack.engine.script = () => ({ text: answer });
    const whole = await stack.post('/v1/chat/completions', { model: 'chatqna', stream: false, messages });
    expect(whole.headers.get('x-meganest-citation-coverage')).toBe('0.67');
    expect(whole.headers.get('x-meganest-unknown-citations')).toBe('9');
    const { choices } = (await whole.json()) as {
      choices: { message: Message; citation_coverage: number }[];
    };
    const [choice] = choices;
    expect(choice?.message.content).toBe(shown);
    expect(choice).toMatchObject({ citation_coverage: 0.67, unknown_citations: [9] });
    expect(choice?.message.annotations.map(({ url_citation }) => url_citation)).toMatchObject([
      { passage: 1, chunk_id: 'chunk-2', quote: 'Passage 2 says 2.', quote_start: 0, quote_end: 17 },
      { passage: 2, chunk_id: 'chunk-1', quote: 'Passage 1 says 1.' },
    ]);
    const streamed = await stack.post('/v1/chat/completions', { model: 'chatqna', stream: true, messages });
    const deltas = (await streamed.text()).split('\n\n').flatMap((frame) => {
      const data = frame.replace(/^data: /, '');
      return data.startsWith('{') ? (JSON.parse(data) as { choices: { delta: Message }[] }).choices : [];
    });
    expect(deltas.map(({ delta }) => delta.content ?? '').join('')).toBe(shown);
    expect(deltas.flatMap(({ delta }) => delta.annotations ?? [])).toEqual(choice?.message.annotations);
    expect(deltas.at(-1)).toMatchObject({ citation_coverage: 0.67, unknown_citations: [9] });
  });

  it('are beside an answer in JSON, which has no markers', async () => {
    stack.engine.script = () => ({ text: '{"said": "Passage 2 says two [2]"}' });
    const schema = { type: 'object', properties: { said: { type: 'string' } }, required: ['said'] };
    const response_format = { type: 'json_schema', json_schema: { name: 'answer', schema } };
    const body = { model: 'chatqna', stream: false, messages, response_format };
    const response = await stack.post('/v1/chat/completions', body);
    const { choices } = (await response.json()) as { choices: { message: Message }[] };
    expect(choices[0]?.message.content).toBe('{"said": "Passage 2 says two"}');
    expect(choices[0]?.message.annotations.map(({ url_citation }) => url_citation)).toMatchObject([
      { start_index: 10, end_index: 28, chunk_id: 'chunk-2', quote: 'Passage 2 says 2.' },
    ]);
    expect(stack.engine.asked.at(-1)?.messages[0]?.content).toContain('no citation numbers into the JSON');
  });

  it('are in a response', async () => {
    stack.engine.script = () => ({ text: answer });
    const response = await stack.post('/v1/responses', { model: 'chatqna', input: messages[0]!.content });
    expect(response.headers.get('x-meganest-citation-coverage')).toBe('0.67');
    const { output } = (await response.json()) as {
      output: { type: string; content?: { text: string; annotations: object[] }[] }[];
    };
    const [part] = output.find(({ type }) => type === 'message')?.content ?? [];
    expect(part).toMatchObject({
      text: shown,
      annotations: [
        { chunk_id: 'chunk-2', passage: 1, quote: 'Passage 2 says 2.', quote_start: 0, quote_end: 17 },
        { chunk_id: 'chunk-1', passage: 2, quote: 'Passage 1 says 1.' },
      ],
    });
  });
});

interface Message {
  content: string;
  annotations: { url_citation: object }[];
}

describe('the prompt of a mega service for an engine', () => {
  it("has the caller's system turn first, the date, the language, and no numbers of earlier answers", async () => {
    const { asked } = await chat({
      messages: [
        { role: 'developer', content: 'You are Ada.' },
        { role: 'user', content: 'Was steht in Teil eins?' },
        { role: 'assistant', content: 'Teil eins sagt 1 [4].' },
        { role: 'user', content: 'Und was steht in Teil zwei?' },
      ],
    });
    const [first, , answer] = asked.at(-1)!.messages;
    expect(first).toMatchObject({
      role: 'system',
      content: expect.stringMatching(/^You are Ada\.\n\nToday is/),
    });
    expect(first?.content).toMatch(/Ich konnte die Antwort.*Antworte auf Deutsch\.$/);
    expect(answer).toMatchObject({ role: 'assistant', content: 'Teil eins sagt 1.' });
  });

  it('has as many passages as the caller asks for', async () => {
    stack.witness.found = many(10, 'a fact.');
    const { asked } = await chat({ messages: 'What does passage one say?', top_n: 10 });
    expect(lastText(asked[0]!)).toContain('[10] Number 9');
  });

  it('has the neighbours of the passages, with the labels of their section', async () => {
    const [first] = scriptedDocuments;
    const next = {
      ...first!,
      id: 'next',
      text: 'It goes on.',
      metadata: { ...first!.metadata, chunk_index: 2 },
    };
    stack.witness.neighbours = [next];
    const { asked, degraded } = await chat({ messages: 'What does passage one say?' });
    expect(lastText(asked[0]!)).toContain('[1] file-1.md\nPassage 1 says 1.\n\nIt goes on.\n\n[2] file-2.md');
    expect(degraded).toBeNull();
  });

  it('has the found passages alone where their neighbours cannot be read, which the answer says', async () => {
    stack.witness.neighbours = undefined;
    const { asked, degraded } = await chat({ messages: 'What does passage one say?' });
    expect(lastText(asked[0]!)).toContain('[1] file-1.md\nPassage 1 says 1.\n\n[2] file-2.md');
    expect(degraded).toBe('neighbours');
  });

  it('has no limit and no temperature that the caller did not ask for', async () => {
    const { asked } = await chat({ messages: 'What does passage one say?' });
    for (const name of ['max_tokens', 'max_completion_tokens', 'temperature', 'top_p', 'top_k'])
      expect(asked[0]).not.toHaveProperty(name);
    const given = await chat({ messages: 'What does passage one say?', max_tokens: 7, temperature: 0.3 });
    expect(given.asked[0]).toMatchObject({ max_tokens: 7, temperature: 0.3 });
  });

  it('has the reasoning effort and the variables of the template', async () => {
    const body = { reasoning_effort: 'high', chat_template_kwargs: { custom: 1 } };
    const { asked, ignored } = await chat({ messages: 'What does passage one say?', ...body });
    expect(asked[0]).toMatchObject({
      reasoning_effort: 'high',
      chat_template_kwargs: { enable_thinking: true, reasoning_effort: 'high', custom: 1 },
    });
    expect(ignored).toBeNull();
    const response = await fetch(`${stack.llm.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ messages: 'hi', reasoning_effort: 'low' }),
    });
    expect(response.headers.get('x-meganest-ignored')).toBeNull();
    expect(stack.engine.asked.at(-1)).toMatchObject({ reasoning_effort: 'low' });
  });

  it.each([
    ['long passages', many(10, 'word '.repeat(2_000))],
    ['passages of JSON', many(40, '{"id": 4711, "size": [1, 2], "name": "x-1"}, '.repeat(20))],
    ['one endless passage', many(1, 'word '.repeat(20_000))],
    ['passages in Chinese', many(40, '办公室八点开门。'.repeat(50))],
  ])('fits into the window with %s', async (_name, found) => {
    stack.witness.found = found;
    const { asked } = await chat({ messages: 'What does passage one say?', top_n: 40, max_tokens: 1000 });
    const prompt = asked[0]!.messages.map(({ content }) => content as string).join('\n');
    expect(prompt).toContain('[1] Number 0');
    expect(prompt).toMatch(/What does passage one say\?/);
    const signs = prompt.match(/[^a-zA-Z ]/g)?.length ?? 0;
    const tokens = (prompt.length - signs) / 4 + signs / 2;
    expect(tokens).toBeLessThanOrEqual(window - 1000);
    expect(tokens).toBeGreaterThan(window / 4);
  });
});
