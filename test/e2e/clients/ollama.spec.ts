import { Ollama, type Message, type Tool } from 'ollama';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { recordClient } from '../../support/client-matrix.js';
import { scriptedModel } from '../helpers/scripted-services.js';
import { startScriptedStack, type ScriptedStack } from '../helpers/scripted-stack.js';

recordClient({ client: 'Ollama (JavaScript)', name: 'ollama' });

let stack: ScriptedStack;
let client: Ollama;
beforeAll(async () => {
  stack = await startScriptedStack();
  client = new Ollama({ host: stack.gateway.url });
});
afterAll(() => stack?.stop());

const model = `${scriptedModel}:latest`;
const chat = (content: string, more: object = {}) =>
  client.chat({ model, messages: [{ role: 'user', content }], ...more });

const add: Tool = {
  type: 'function',
  function: { name: 'add', description: 'Adds.', parameters: { type: 'object', properties: {} } },
};

describe('the Ollama client', () => {
  it('lists and shows models', async () => {
    const { models } = await client.list();
    expect(models.map(({ name }) => name)).toEqual(expect.arrayContaining(['chatqna:latest', model]));
    expect((await client.ps()).models.map(({ name }) => name)).toContain(model);
    expect(await client.show({ model })).toMatchObject({
      capabilities: ['completion', 'tools'],
      model_info: { 'meganest.context_length': 200 },
    });
    await expect(client.show({ model: 'none' })).rejects.toThrow('The model none does not exist');
    expect(await client.version()).toEqual({ version: expect.stringMatching(/^\d+\.\d+\.\d+$/) as string });
  });

  it('chats', async () => {
    expect(await chat('say this')).toMatchObject({
      model,
      message: { role: 'assistant', content: 'say this' },
      done: true,
      done_reason: 'stop',
      prompt_eval_count: 2,
      eval_count: 2,
    });
    expect(await chat('say this', { options: { num_predict: 1 } })).toMatchObject({ done_reason: 'length' });
  });

  it('streams', async () => {
    const pieces: string[] = [];
    let isDone = false;
    for await (const part of await client.chat({
      model,
      messages: [{ role: 'user', content: 'count 3' }],
      stream: true,
    })) {
      if (!part.done) pieces.push(part.message.content);
      isDone = part.done;
    }
    expect(pieces).toEqual(['1 ', '2 ', '3 ']);
    expect(isDone).toBe(true);
  });

  it('calls tools, and sends their results by name', async () => {
    const question: Message = { role: 'user', content: 'use add {"a":1}\nuse add {"a":3}' };
    const { message } = await client.chat({ model, messages: [question], tools: [add] });
    expect(message.tool_calls?.map((call) => call.function)).toEqual([
      { name: 'add', arguments: { a: 1 } },
      { name: 'add', arguments: { a: 3 } },
    ]);
    const results = ['one', 'three'].map((content): Message => ({ role: 'tool', content, tool_name: 'add' }));
    const messages = [question, message, ...results];
    expect((await client.chat({ model, messages, tools: [add] })).message.content).toBe('one and three');
  });

  it('thinks, and takes options and formats', async () => {
    const { message } = await chat('think hard: x', { think: true });
    expect(message).toMatchObject({ thinking: 'hard', content: 'x' });
    const schema = { type: 'object', properties: { a: { type: 'number' } } };
    await chat('say this', {
      format: schema,
      options: { temperature: 0.5, repeat_penalty: 1.1, num_ctx: 4096 },
    });
    expect(stack.witness.asked).toMatchObject({
      temperature: 0.5,
      repetition_penalty: 1.1,
      constraint: { type: 'json_schema', schema },
    });
    await chat('say this', { think: false });
    expect(stack.witness.asked?.chat_template_kwargs).toMatchObject({ enable_thinking: false });
  });

  it('names options without effect', async () => {
    const answer = await fetch(`${stack.gateway.url}/api/chat`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        model,
        messages: [{ role: 'user', content: 'hi' }],
        options: { num_ctx: 4096 },
        stream: false,
      }),
    });
    expect(answer.headers.get('x-meganest-ignored')).toBe('options.num_ctx');
  });

  it('asks a mega service, with citations', async () => {
    const { message } = await client.chat({
      model: 'chatqna:latest',
      messages: [{ role: 'user', content: 'say it' }],
    });
    expect(message).toMatchObject({
      content: 'say it',
      annotations: [{ type: 'url_citation', url_citation: { filename: 'file-1.md' } }],
    });
  });

  it('generates', async () => {
    expect(await client.generate({ model, prompt: 'say this', system: 'Be brief.' })).toMatchObject({
      response: 'say this',
      done: true,
    });
    expect(stack.witness.asked?.messages[0]).toMatchObject({ role: 'system', content: 'Be brief.' });
    const parts: string[] = [];
    for await (const { response } of await client.generate({ model, prompt: 'count 2', stream: true }))
      parts.push(response ?? '');
    expect(parts).toEqual(['1 ', '2 ', '']);
    expect(await client.generate({ model, prompt: '' })).toMatchObject({ done_reason: 'load' });
    await expect(client.generate({ model, prompt: 'x', template: '{{ .Prompt }}' })).rejects.toThrow(
      'template',
    );
  });

  it('embeds', async () => {
    const embed = { model: 'scripted-embed', input: ['a', 'b'] };
    expect((await client.embed(embed)).embeddings).toEqual([
      [1, 0],
      [1, 0],
    ]);
    expect((await client.embeddings({ model: 'scripted-embed', prompt: 'a' })).embedding).toEqual([1, 0]);
  });

  it('gets errors as texts', async () => {
    await expect(chat('hi', { model: 'none' })).rejects.toThrow('The model none does not exist');
    const stream = await client.chat({
      model,
      messages: [{ role: 'user', content: 'break after 1' }],
      stream: true,
    });
    await expect(
      (async () => {
        for await (const part of stream) void part;
      })(),
    ).rejects.toThrow('the script broke');
  });
});
