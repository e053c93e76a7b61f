import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AutoModelForCausalLM, AutoTokenizer, env, Tensor } from '@xenova/transformers';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ChatMessage, GenerationParameters } from '#platform/contracts';
import { modelFolderWith } from '../../models/src/model/model-folder.fixture.js';
import { loadGenerator, type GeneratorLoadOptions } from './generator.js';
import type { GenerationEvent, Generator } from './generator-interface.js';

const results = `### Search results:
[1] Employees receive 25 days of paid vacation per year. Vacation requests must be sent to the manager two weeks in advance. Unused days expire on March 31.
[2] The office in Lisbon opens at 8 am and closes at 7 pm. Visitors have to register at the reception desk.
[3] Zorvex is a message broker written in Rust. It stores its log on disk and replicates it to three nodes.

`;
const ask = (question: string): ChatMessage[] => [
  { role: 'user', content: `${results}### Question: ${question}` },
];

const engines = [
  { engine: 'exporter', source: modelFolderWith('nano-chat', 'onnx/model_quantized.onnx') },
  { engine: 'compiled', source: modelFolderWith('nano-chat', 'model.safetensors') },
] as const;

const present = engines.filter(({ source }) => source);
if (present.length < engines.length) console.warn('nano-chat is not here in every form: tests are left out.');

describe.each(present)('nano-chat, $engine graph', ({ engine, source }) => {
  let cacheDirectory: string;
  let generator: Generator;
  beforeAll(async () => {
    cacheDirectory = await mkdtemp(path.join(tmpdir(), 'generator-'));
    generator = await load();
  });
  afterAll(async () => {
    await generator?.close();
    await rm(cacheDirectory, { recursive: true });
  });

  function load(options: GeneratorLoadOptions = {}): Promise<Generator> {
    return loadGenerator(source!, { engine, cacheDirectory, threads: 1, ...options });
  }

  async function collect(messages: ChatMessage[] | string, parameters: GenerationParameters = {}) {
    const events: GenerationEvent[] = [];
    for await (const event of generator.generate({ messages, parameters })) events.push(event);
    const ofChoice = (choice: number) => events.filter((event) => event.choice === choice);
    const text = (choice = 0) =>
      ofChoice(choice)
        .map((event) => event.text)
        .join('');
    const tokens = (choice = 0) => ofChoice(choice).flatMap((event) => event.tokenIds);
    const finish = (choice = 0) => ofChoice(choice).at(-1)?.finishReason;
    return { events, text, tokens, finish, usage: events.at(-1)?.usage };
  }

  it('refuses an image, and names it', async () => {
    const param = 'messages[0].content[1]';
    const image = { url: 'data:image/png;base64,AAAA', param };
    const asked = collect([{ role: 'user', content: 'What is it?', images: [image] }]);
    await expect(asked).rejects.toMatchObject({ code: 'unsupported_parameter', param });
    expect(generator.info.modalities).toBeUndefined();
  });

  it('quotes the sentence that answers, with its number', async () => {
    const vacation = await collect(ask('How many days of paid vacation do employees receive?'));
    expect(vacation.text()).toBe('Employees receive 25 days of paid vacation per year. [1]');
    expect(vacation.finish()).toBe('stop');
    const office = await collect(ask('When does the office in Lisbon open?'));
    expect(office.text()).toBe('The office in Lisbon opens at 8 am and closes at 7 pm. [2]');
    const president = await collect(ask('Who is the president of France?'));
    expect(president.text()).toBe('I could not find the answer in the provided documents.');
  });

  // The compiled graph also rounds activations to int8, so that it may choose otherwise where two tokens are close.
  it.skipIf(engine === 'compiled')('writes the same greedy tokens as transformers.js', async () => {
    env.localModelPath = `${path.dirname(source!)}/`;
    const tokenizer = await AutoTokenizer.from_pretrained('nano-chat');
    const model = await AutoModelForCausalLM.from_pretrained('nano-chat', { dtype: 'q8' });
    for (const question of [
      'What is Zorvex?',
      'where do visitors have to register?',
      'When do unused days expire?',
    ]) {
      const inputs = tokenizer.apply_chat_template(
        ask(question).map(({ role, content }) => ({ role, content })),
        { add_generation_prompt: true, return_dict: true },
      );
      const output = (await model.generate({ ...(inputs as object), max_new_tokens: 64 })) as Tensor;
      const promptTokens = await generator.countPromptTokens(ask(question));
      const expected = Array.from(output.data as BigInt64Array, Number).slice(promptTokens);
      const { tokens } = await collect(ask(question), { max_tokens: 64 });
      expect(tokens()).toEqual(expected.filter((id) => id !== 2));
    }
    await model.dispose();
  });

  it('counts tokens and ends at max_tokens', async () => {
    const { usage, finish, tokens } = await collect(ask('What is Zorvex?'), { max_tokens: 3 });
    expect(finish()).toBe('length');
    expect(tokens()).toHaveLength(3);
    const promptTokens = await generator.countPromptTokens(ask('What is Zorvex?'));
    expect(usage).toMatchObject({ promptTokens, completionTokens: 3 });
  });

  it('stops before a stop string that spans tokens, and emits nothing of it', async () => {
    const { text, finish, events } = await collect(ask('What is Zorvex?'), {
      stop: ['broker written', 'no such'],
    });
    expect(text()).toBe('Zorvex is a message ');
    expect(finish()).toBe('stop');
    expect(events.map((event) => event.text).join('|')).not.toContain('b');
  });

  it('draws the same tokens for the same seed, alone and in a batch', async () => {
    const parameters = { temperature: 1.5, seed: 7, max_tokens: 24, ignore_eos: true };
    const alone = await collect('Once', parameters);
    const [again, other] = await Promise.all([
      collect('Once', parameters),
      collect('Once', { ...parameters, seed: 8 }),
    ]);
    expect(again.tokens()).toEqual(alone.tokens());
    expect(other.tokens()).not.toEqual(alone.tokens());
  });

  it('writes n answers side by side, each with its own finish, and one usage', async () => {
    const parameters = { n: 3, temperature: 1.2, seed: 1, max_tokens: 12, ignore_eos: true };
    const { events, tokens, finish, usage } = await collect('Once', parameters);
    for (const choice of [0, 1, 2]) {
      expect(tokens(choice)).toHaveLength(12);
      expect(finish(choice)).toBe('length');
    }
    expect(tokens(0)).not.toEqual(tokens(1));
    expect(usage?.completionTokens).toBe(36);
    expect(events.filter((event) => event.usage)).toHaveLength(1);
    const single = await collect('Once', { ...parameters, n: 1 });
    expect(single.tokens()).toEqual(tokens(0));
  });

  it('reports log probabilities of the chosen and the likeliest tokens', async () => {
    const parameters = { logprobs: true, top_logprobs: 3, max_tokens: 5 };
    const { events, text } = await collect(ask('What is Zorvex?'), parameters);
    const logprobs = events.flatMap((event) => event.logprobs ?? []);
    expect(logprobs).toHaveLength(5);
    for (const { token, logprob, top_logprobs: top } of logprobs) {
      expect(logprob).toBeLessThanOrEqual(0);
      expect(top).toHaveLength(3);
      // Greedy: the chosen token is the likeliest.
      expect(top[0]).toMatchObject({ token, logprob });
      expect(top[1]!.logprob).toBeLessThanOrEqual(top[0]!.logprob);
    }
    const bytes = logprobs.flatMap((entry) => entry.bytes ?? []);
    expect(Buffer.from(bytes).toString().trimStart()).toBe(text());
  });

  it('honors logit_bias and refuses tokens that the model does not have', async () => {
    const [first] = (await collect(ask('What is Zorvex?'), { max_tokens: 1 })).tokens();
    const biased = await collect(ask('What is Zorvex?'), { max_tokens: 1, logit_bias: { [first!]: -100 } });
    expect(biased.tokens()[0]).not.toBe(first);
    await expect(collect('a', { logit_bias: { 6144: 1 } })).rejects.toMatchObject({
      param: 'logit_bias.6144',
    });
  });

  it('stops within one token of a cancel', async () => {
    const cancelling = new AbortController();
    const events = generator.generate(
      { messages: 'Once', parameters: { ignore_eos: true, max_tokens: 2000 } },
      cancelling.signal,
    );
    let afterCancel = 0;
    const consume = async () => {
      for await (const event of events) {
        if (cancelling.signal.aborted) afterCancel += event.tokenIds.length;
        else if (event.tokenIds.length > 0) cancelling.abort();
      }
    };
    await expect(consume()).rejects.toMatchObject({ code: 'cancelled' });
    // The cancel is on its way while the worker goes on; the scheduler's own test counts exactly.
    expect(afterCancel).toBeLessThan(100);
  });

  it('stops when the consumer ends the iteration', async () => {
    const single = await load({ maxAnswers: 1 });
    const parameters = { ignore_eos: true, max_tokens: 2000 };
    for await (const event of single.generate({ messages: 'Once', parameters })) if (event.text) break;
    // The only place is free again at once.
    const startedAt = performance.now();
    await single.generate({ messages: 'Once', parameters: { max_tokens: 1 } }).next();
    // Only a place that stays taken for all 2,000 tokens takes longer than this, on any machine.
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    await single.close();
  });

  it('writes the same tokens with prompt lookup, with a cached prompt, alone and in a batch', async () => {
    const questions = ['What is Zorvex?', 'When do unused days expire?', 'Where does Zorvex store its log?'];
    const alone = [];
    for (const question of questions) alone.push((await collect(ask(question))).tokens());
    for (const parameters of [{}, { num_assistant_tokens: 7 }]) {
      const together = await Promise.all(questions.map((question) => collect(ask(question), parameters)));
      expect(together.map(({ tokens }) => tokens())).toEqual(alone);
      for (const { usage } of together) expect(usage!.cachedTokens).toBe(engine === 'compiled' ? 128 : 0);
    }
  });

  it('interleaves concurrent requests', async () => {
    const order: string[] = [];
    const follow = async (name: string) => {
      const parameters = { ignore_eos: true, max_tokens: 60 };
      for await (const event of generator.generate({ messages: 'Once', parameters }))
        if (event.text) order.push(name);
    };
    await Promise.all([follow('a'), follow('b')]);
    const switches = order.filter((name, index) => index > 0 && name !== order[index - 1]).length;
    expect(switches).toBeGreaterThan(10);
  });

  it('refuses prompts beyond the context and requests beyond the queue', async () => {
    await expect(collect('word '.repeat(3000))).rejects.toMatchObject({
      code: 'context_length_exceeded',
      param: 'messages',
    });
    const small = await load({ maxAnswers: 1, queueCapacity: 0 });
    const first = small.generate({ messages: 'Once', parameters: { ignore_eos: true } });
    await first.next();
    const second = small.generate({ messages: 'Once', parameters: {} });
    await expect(second.next()).rejects.toMatchObject({ code: 'overloaded', retryAfter: expect.any(Number) });
    await first.return();
    await small.close();
  });
});
