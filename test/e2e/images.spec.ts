import {
  createTemporaryDirectory,
  startNats,
  startPostgres,
  startService,
  type TestService,
} from '#platform/testing';
import type OpenAI from 'openai';
import { toFile } from 'openai';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeVisionModel } from '../../libs/engine/generation/src/images/vision-model.fixture.js';
import {
  drawPicture,
  encodeJpeg,
  encodePng,
  pngOf,
} from '../../libs/engine/vision/src/picture/picture-files.fixture.js';
import { failureOf, newClient, problemsOf } from './helpers/response-events.js';
import { startScriptedServices } from './helpers/scripted-services.js';

/** A gateway and an LLM service with a small SmolVLM of random weights; the other services are scripted. */
let client: OpenAI;
let llm: TestService;
const stops: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  const [nats, postgres, directory] = await Promise.all([
    startNats(),
    startPostgres(),
    createTemporaryDirectory(),
  ]);
  const model = join(directory.path, 'small-vision');
  await writeVisionModel(model);
  const env = { NATS_URL: nats.url, MEGANEST_DATA_DIR: directory.path };
  const others = await startScriptedServices(nats.url, false);
  llm = await startService('llm', { ...env, LLM_MODEL_ID: model, READER_MODEL_ID: 'none' });
  const gateway = await startService('gateway', { DATABASE_URL: postgres.connectionString, ...env });
  client = newClient(gateway.url);
  stops.push(
    () => gateway.stop(),
    () => llm.stop(),
    () => others.close(),
    () => Promise.all([nats.stop(), postgres.stop()]),
    () => directory.remove(),
  );
});
afterAll(async () => {
  for (const stop of stops) await stop();
});

const urlOf = (bytes: Uint8Array, type = 'png'): string =>
  `data:image/${type};base64,${Buffer.from(bytes).toString('base64')}`;
const red = urlOf(encodePng(drawPicture(50, 40, 1)));
const blue = urlOf(encodePng(drawPicture(50, 40, 2)));

function messagesWith(url: string, detail?: 'low' | 'high'): OpenAI.ChatCompletionMessageParam[] {
  const image = { type: 'image_url' as const, image_url: { url, ...(detail && { detail }) } };
  return [{ role: 'user', content: [image, { type: 'text', text: 'What is to be seen?' }] }];
}

const plain = { temperature: 0, max_tokens: 6 };

async function chat(model: string, url: string, detail?: 'low' | 'high') {
  const completion = await client.chat.completions.create({
    model,
    messages: messagesWith(url, detail),
    ...plain,
    logprobs: true,
  });
  const [choice] = completion.choices;
  return { text: choice?.message.content, logprobs: choice?.logprobs?.content, usage: completion.usage! };
}

const inputWith = (part: object): OpenAI.Responses.ResponseInput =>
  [{ role: 'user', content: [part, { type: 'input_text', text: 'What is to be seen?' }] }] as never;

async function respond(part: object) {
  const response = await client.responses.create({
    model: 'small-vision',
    input: inputWith({ type: 'input_image', ...part }),
    temperature: 0,
    max_output_tokens: 16,
  });
  expect(problemsOf('Response', response)).toEqual([]);
  return { text: response.output_text, usage: response.usage! };
}

describe('a vision-language model', () => {
  it('answers about images of chats, and tells them apart', async () => {
    const [first, again, other] = [
      await chat('small-vision', red),
      await chat('small-vision', red),
      await chat('small-vision', blue),
    ];
    expect(again.text).toBe(first.text);
    expect(other.text).not.toBe(first.text);
    expect(other.usage.prompt_tokens).toBe(first.usage.prompt_tokens);
    expect(again.usage.prompt_tokens_details?.cached_tokens).toBeGreaterThan(0);
    expect(other.usage.prompt_tokens_details?.cached_tokens ?? 0).toBe(0);
    const low = await chat('small-vision', red, 'low');
    expect(low.usage.prompt_tokens).toBeLessThan(first.usage.prompt_tokens);
  });

  it('answers about images of responses: data, stored files, and earlier turns', async () => {
    const shown = await respond({ image_url: red, detail: 'high' });
    const stored = await client.files.create({
      file: await toFile(Buffer.from(red.slice(red.indexOf(',') + 1), 'base64'), 'red.png'),
      purpose: 'vision',
    });
    const byId = await respond({ file_id: stored.id, detail: 'high' });
    expect(byId.text).toBe(shown.text);
    expect(byId.usage.input_tokens).toBe(shown.usage.input_tokens);
    const counted = await client.responses.inputTokens.count({
      model: 'small-vision',
      input: inputWith({ type: 'input_image', image_url: red, detail: 'high' }),
    });
    expect(counted.input_tokens).toBe(shown.usage.input_tokens);
    const jpeg = urlOf(await encodeJpeg(drawPicture(50, 40, 1)), 'jpeg');
    expect((await respond({ image_url: jpeg, detail: 'low' })).usage.input_tokens).toBeLessThan(
      shown.usage.input_tokens,
    );
    const first = await client.responses.create({
      model: 'small-vision',
      input: inputWith({ type: 'input_image', image_url: red, detail: 'high' }),
      max_output_tokens: 16,
    });
    const second = await client.responses.create({
      model: 'small-vision',
      input: 'And now?',
      previous_response_id: first.id,
      max_output_tokens: 16,
    });
    expect(second.usage!.input_tokens).toBeGreaterThan(first.usage!.input_tokens);
  });

  it('answers in a mega service about an image and the documents of the question', async () => {
    const [plainAnswer, grounded, other] = [
      await chat('small-vision', red),
      await chat('chatqna', red),
      await chat('chatqna', blue),
    ];
    expect(grounded.usage.prompt_tokens).toBeGreaterThan(plainAnswer.usage.prompt_tokens);
    // The words of random weights hardly depend on an image before a long prompt, their probabilities do.
    expect(other.logprobs).not.toEqual(grounded.logprobs);
    const again = await chat('chatqna', red);
    expect(again.logprobs?.map(({ token }) => token)).toEqual(grounded.logprobs?.map(({ token }) => token));
  });

  it.each<[string, string, string]>([
    ['nothing that is an image', urlOf(Buffer.from('words')), 'unsupported_file'],
    ['a damaged image', urlOf(pngOf(40, 40)), 'unsupported_file'],
    ['an image of too many pixels', urlOf(pngOf(60_000, 60_000)), 'payload_too_large'],
    ['an address inside the network', 'http://127.0.0.1:1/a.png', 'forbidden_url'],
  ])('names the field of %s', async (_name, url, code) => {
    const ask = client.chat.completions.create({
      model: 'small-vision',
      messages: messagesWith(url),
      ...plain,
    });
    expect(await failureOf(ask)).toMatchObject({ code, param: 'messages[0].content[0]' });
    const respondTo = client.responses.create({
      model: 'small-vision',
      input: inputWith({ type: 'input_image', image_url: url, detail: 'auto' }),
    });
    expect(await failureOf(respondTo)).toMatchObject({ code, param: 'input[0].content[0]' });
  });

  it('takes images at the LLM service itself', async () => {
    const direct = newClient(llm.url);
    const messages = messagesWith(red);
    const completion = await direct.chat.completions.create({ model: 'small-vision', messages, ...plain });
    const { text, usage } = await chat('small-vision', red);
    expect(completion.choices[0]?.message.content).toBe(text);
    expect(completion.usage?.prompt_tokens).toBe(usage.prompt_tokens);
    const bad = direct.chat.completions.create({
      model: 'small-vision',
      messages: messagesWith(urlOf(pngOf(40, 40))),
    });
    expect(await failureOf(bad)).toMatchObject({ code: 'unsupported_file', param: 'messages[0].content[0]' });
  });

  it('refuses an image in a mega service that does not answer the conversation', async () => {
    const ask = client.chat.completions.create({ model: 'docsum', messages: messagesWith(red) });
    expect(await failureOf(ask)).toMatchObject({
      code: 'unsupported_parameter',
      param: 'messages[0].content[0]',
    });
  });
});
