import { createTemporaryDirectory } from '#platform/testing';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { ChatTemplate } from './chat-template.js';

describe('ChatTemplate', () => {
  let remove = () => Promise.resolve();
  afterEach(() => remove());
  const emptyDirectory = async () => {
    const directory = await createTemporaryDirectory();
    remove = () => directory.remove();
    return directory.path;
  };
  const messages = [{ role: 'user', content: 'hi' }];

  it('writes special tokens, also those that the configuration has as objects', async () => {
    const template = await ChatTemplate.load(await emptyDirectory(), {
      chat_template: '{{ bos_token }}{{ messages[0].content }}{{ eos_token }}{{ pad_token }}',
      bos_token: { content: '<s>', lstrip: false },
      eos_token: '</s>',
      pad_token: null,
    });
    expect(template?.render(messages, {})).toBe('<s>hi</s>');
  });

  it('takes the template for tools where the caller has tools', async () => {
    const template = await ChatTemplate.load(await emptyDirectory(), {
      chat_template: [
        { name: 'default', template: 'plain' },
        { name: 'tool_use', template: 'tools: {{ tools[0].name }}' },
      ],
    });
    expect(template?.source).toContain('tools');
    expect(template?.render(messages, {})).toBe('plain');
    expect(template?.render(messages, { tools: [{ name: 'weather' }] })).toBe('tools: weather');
  });

  it('reads the file beside the configuration', async () => {
    const directory = await emptyDirectory();
    await writeFile(path.join(directory, 'chat_template.jinja'), 'file: {{ messages[0].content }}');
    expect((await ChatTemplate.load(directory, {}))?.render(messages, {})).toBe('file: hi');
    expect(await ChatTemplate.load(await emptyDirectory(), {})).toBeUndefined();
  });

  it('says what the template refuses', async () => {
    const template = await ChatTemplate.load(await emptyDirectory(), {
      chat_template: "{{ raise_exception('roles must alternate') }}",
    });
    expect(() => template?.render(messages, {})).toThrow(/refuses these messages: roles must alternate/);
  });
});
