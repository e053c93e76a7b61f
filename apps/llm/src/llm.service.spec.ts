import type { GenerationChunk } from '#platform/contracts';
import { HealthRegistry, Metrics } from '#platform/service-kit';
import { describe, expect, it } from 'vitest';
import type { GenerateRequest as ModelRequest, GenerationEvent, Generator } from '#engine/generation';
import type { GenerateRequest } from './tools/tool-format.js';
import { byWord, LlmService } from './llm.service.js';
import type { LlmSettings } from './llm.environment.js';
import type { LlmGenerator } from './open-generator.js';
import type { ExtractiveAnswerer } from '#answers/extractive';

const settings: LlmSettings = {
  parameters: { temperature: 0.5, max_tokens: 50 },
  grounding: {
    parameters: { max_tokens: 20, top_p: 0.9 },
    userPrompt: '{context}\n{question}',
    context: 'lines' as const,
    maxPassages: 3,
    maxContextWords: 100,
    noAnswer: 'No idea.',
  },
};

/** Says its tokens one at a time, and only when it is asked for the next. */
class FakeGenerator implements Generator {
  readonly info = { id: 'fake', revision: 'r', backend: 'fake', maxInputTokens: 1000, created: 0 };
  written = 0;
  request: ModelRequest | undefined;

  constructor(private readonly tokens: string[]) {}

  async *generate(request: ModelRequest): AsyncGenerator<GenerationEvent, void, void> {
    this.request = request;
    for (const [index, text] of this.tokens.entries()) {
      const last = index === this.tokens.length - 1;
      this.written += 1;
      await Promise.resolve();
      yield {
        choice: 0,
        text,
        tokenIds: [index],
        ...(index === 0 && { prompt: { promptTokens: 9, cachedTokens: 4 } }),
        ...(last && {
          finishReason: 'stop',
          usage: { promptTokens: 9, completionTokens: index + 2, cachedTokens: 4 },
        }),
      };
    }
  }

  countPromptTokens(): Promise<number> {
    return Promise.resolve(9);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

function serve(
  tokens: string[],
  remote: Partial<Pick<LlmGenerator, 'check'>> = {},
  answerer?: ExtractiveAnswerer,
  more: Partial<LlmSettings> = {},
) {
  const generator = Object.assign(new FakeGenerator(tokens), remote);
  const metrics = new Metrics('llm');
  const health = new HealthRegistry({ service: 'llm', title: '', description: '' });
  const service = new LlmService(generator, { ...settings, ...more }, metrics, health, answerer);
  const stream = (request: Partial<GenerateRequest> = {}) => {
    const messages = [{ role: 'user' as const, content: 'When is tea?' }];
    return service.generate({ messages, ...request }, new AbortController().signal);
  };
  const collect = async (request: Partial<GenerateRequest> = {}) => {
    const chunks: GenerationChunk[] = [];
    for await (const chunk of stream(request)) chunks.push(chunk);
    return { chunks, text: chunks.map(({ text }) => text).join(''), last: chunks.at(-1) };
  };
  const metric = async (name: string) => (await metrics.registry.getSingleMetric(name)?.get())?.values ?? [];
  return { service, generator, stream, collect, metric };
}

const document = {
  id: 'd',
  text: 'Tea is served at 5 pm. Coffee is served at 3 pm.',
  score: 1,
  metadata: {},
};

/** Notes the question and the passages, and answers `Read.` */
function readerOf() {
  const seen: unknown[] = [];
  const answerer = {
    info: { id: 'reader' },
    async *answerPrompt(messages: unknown, { passages }: { passages: unknown }) {
      await Promise.resolve();
      seen.push({ messages, passages });
      yield { choice: 0, text: 'Read.', finishReason: 'stop' };
    },
  };
  return { seen, answerer: answerer as unknown as ExtractiveAnswerer };
}

describe('LlmService', () => {
  it('lets the reader answer prompts with their own passages, with bare questions', async () => {
    const { seen, answerer } = readerOf();
    const { collect, service } = serve(['Written.'], {}, answerer);
    const prompt = (asked: string) =>
      `Answer the question based only on the following context:\n${document.text}\n\nQuestion: ${asked}`;
    const messages = [
      { role: 'user' as const, content: prompt('When is tea?') },
      { role: 'assistant' as const, content: 'At 5 pm.' },
      { role: 'user' as const, content: prompt('And coffee?') },
    ];
    expect((await collect({ messages })).text).toBe('Read.');
    expect(seen).toEqual([
      {
        messages: ['When is tea?', 'At 5 pm.', 'And coffee?'].map((content, index) => ({
          ...messages[index],
          content,
        })),
        passages: [{ text: document.text }],
      },
    ]);
    expect(service.unusedParameters({ messages, temperature: 1 })).toEqual(['temperature']);
    expect((await collect()).text).toBe('Written.');
  });

  it('passes plain chat through, with the usage and the model on the last chunk', async () => {
    const { collect, generator } = serve(['Hello', ' you', '!']);
    const { text, last, chunks } = await collect();
    expect(text).toBe('Hello you!');
    expect(chunks).toHaveLength(3);
    expect(last).toMatchObject({
      finishReason: 'stop',
      model: 'fake',
      usage: { promptTokens: 9, completionTokens: 4, cachedTokens: 4 },
    });
    expect(generator.request?.messages).toEqual([{ role: 'user', content: 'When is tea?' }]);
  });

  it('keeps each piece of a remote engine, and splits the pieces of a local model into words', async () => {
    const pieces = ['word ', 'two words ', 'end'];
    const remote = await serve(pieces, { check: () => Promise.resolve() }).collect();
    expect(remote.chunks.map(({ text }) => text)).toEqual(pieces);
    const local = await serve(pieces).collect();
    expect(local.chunks.map(({ text }) => text)).toEqual(['word', ' ', 'two', ' words', ' ', 'end']);
  });

  it('does not give instructions to a model that does not follow them, however long they are', async () => {
    const { collect, generator } = serve(['Hello!'], {}, undefined, { writes: false });
    const question = { role: 'user' as const, content: 'When is tea?' };
    const instructions = ['system' as const, 'developer' as const].map((role) => ({
      role,
      content: 'Be brief.',
    }));
    await collect({ messages: [...instructions, question] });
    expect(generator.request?.messages).toEqual([question]);
    await collect({ messages: [{ role: 'system', content: 'Alone.' }] });
    expect(generator.request?.messages).toEqual([{ role: 'system', content: 'Alone.' }]);
  });

  it("fills in the profile's parameters, and keeps an explicit 0", async () => {
    const { collect, generator } = serve(['a']);
    await collect({ temperature: 0, seed: undefined });
    expect(generator.request?.parameters).toEqual({ temperature: 0, max_tokens: 50 });
  });

  it('keeps what belongs to answers from passages out of a plain chat', async () => {
    const { collect, generator } = serve(['a']);
    await collect();
    expect(generator.request?.parameters).toEqual({ temperature: 0.5, max_tokens: 50 });
    await collect({ documents: [document], temperature: 0 });
    expect(generator.request?.parameters).toMatchObject({ temperature: 0, max_tokens: 20, top_p: 0.9 });
  });

  it('says what applies where a caller does not', () => {
    const { service } = serve([]);
    expect(service.model.defaults).toEqual({ temperature: 0.5, max_tokens: 50 });
  });

  it('grounds the answer on the documents where no reader chooses from them', async () => {
    const { collect, generator } = serve(['Tea', ' is', ' served', ' at', ' 5', ' pm.', ' [', '1', ']', '']);
    const { chunks, text } = await collect({ documents: [document] });
    expect(generator.request?.messages).toEqual([
      { role: 'user', content: `[1] ${document.text}\nWhen is tea?` },
    ]);
    expect(text).toBe('Tea is served at 5 pm. [1]');
    const citations = chunks.flatMap((chunk) => chunk.citations ?? []);
    expect(citations).toMatchObject([{ documentId: 'd', passage: 1 }]);
  });

  it('refuses for each answer where the search found nothing, and does not ask the model', async () => {
    for (const documents of [[], [{ ...document, text: ' \n' }]]) {
      const { collect, generator } = serve(['Paris.']);
      const { chunks, last } = await collect({ documents, n: 2 });
      const textOf = (index: number) =>
        chunks.flatMap(({ choice, text }) => (choice === index ? text : [])).join('');
      expect([textOf(0), textOf(1)]).toEqual(['No idea.', 'No idea.']);
      expect(last).toMatchObject({ finishReason: 'stop', model: 'fake', usage: { completionTokens: 0 } });
      expect(generator.request).toBeUndefined();
    }
  });

  it('puts nothing in the place of a refusal, and checks nothing in it', async () => {
    const { collect, generator } = serve([]);
    generator.generate = async function* (): AsyncGenerator<GenerationEvent, void, void> {
      await Promise.resolve();
      yield { choice: 0, text: 'I will not.', tokenIds: [1], refusal: true };
      yield { choice: 0, text: '', tokenIds: [], finishReason: 'stop' };
    };
    const { chunks, text } = await collect({ documents: [document] });
    expect(text).toBe('I will not.');
    expect(chunks.filter((chunk) => chunk.text !== '').every(({ refusal }) => refusal)).toBe(true);
  });

  it('writes no token more when its consumer leaves', async () => {
    const { stream, generator, metric } = serve(Array.from({ length: 100 }, () => ' a'));
    let received = 0;
    for await (const { text } of stream()) {
      expect(text).toBe(' a');
      received += 1;
      if (received === 5) break;
    }
    expect(generator.written).toBe(5);
    expect(await metric('meganest_tokens_total')).toMatchObject([
      { value: 5, labels: { kind: 'completion' } },
    ]);
    const pending = await metric('meganest_operations_pending');
    expect(pending).toMatchObject([{ value: 0, labels: { operation: 'generate' } }]);
  });

  it('counts prompt and answer, and the first token', async () => {
    const { collect, metric } = serve(['a', 'b']);
    await collect();
    const tokens = await metric('meganest_tokens_total');
    expect(Object.fromEntries(tokens.map(({ labels, value }) => [labels['kind'], value]))).toEqual({
      prompt: 9,
      completion: 3,
    });
    const first = await metric('meganest_first_token_seconds');
    expect(first.at(-1)).toMatchObject({ value: 1 });
  });

  it('refuses another model', async () => {
    await expect(serve(['a']).collect({ model: 'other' })).rejects.toMatchObject({
      code: 'model_not_found',
      message: 'The model other does not exist. Available: fake',
    });
  });
});

const split = (...chunks: GenerationChunk[]): GenerationChunk[] => chunks.flatMap(byWord);

describe('byWord', () => {
  it('gives each word a chunk, and the end to the last', () => {
    expect(split({ choice: 1, text: 'Tea is\nhot. [1]', finishReason: 'stop' })).toEqual([
      { choice: 1, text: 'Tea' },
      { choice: 1, text: ' is' },
      { choice: 1, text: '\nhot.' },
      { choice: 1, text: ' [1]', finishReason: 'stop' },
    ]);
  });

  it('gives each word of a refusal its mark', () => {
    const whole: GenerationChunk = { choice: 0, text: 'Not this.', refusal: true };
    expect(split(whole)).toEqual([
      { choice: 0, text: 'Not', refusal: true },
      { choice: 0, text: ' this.', refusal: true },
    ]);
  });

  it('leaves what has no words or carries logprobs as it is', () => {
    const chunks: GenerationChunk[] = [
      { choice: 0, text: ' a b', logprobs: [] },
      { choice: 0, text: '  ' },
      { choice: 0, text: '', finishReason: 'length' },
    ];
    expect(split(...chunks)).toEqual(chunks);
  });
});
