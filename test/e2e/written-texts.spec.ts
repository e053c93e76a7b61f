import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEngineStack, type EngineStack } from './helpers/engine-stack.js';

let stack: EngineStack;

beforeAll(async () => {
  stack = await startEngineStack({
    model: { max_model_len: 4096, owned_by: 'vllm' },
    env: { LLM_MODALITIES: 'text,image' },
  });
});
afterAll(() => stack?.stop());

async function ask(path: string, body: object) {
  const response = await stack.post(path, body);
  const text = await response.text();
  const messages = (stack.engine.asked.at(-1)?.messages ?? []) as { content: unknown }[];
  return { status: response.status, text, prompt: JSON.stringify(messages.at(-1)?.content) };
}

describe('mega services with a template', () => {
  it('translate a text between the languages of the request', async () => {
    const body = { language_from: 'German', language_to: 'French', source_language: 'Guten {language_to}!' };
    const answer = await ask('/v1/translation', { ...body, stream: false });
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.text)).toMatchObject({ object: 'chat.completion', model: 'translation' });
    expect(answer.prompt).toContain('from German to French');
    // A brace of the text is not a field.
    expect(answer.prompt).toContain('Guten {language_to}!');
    const usual = await ask('/v1/translation', { source_language: 'Hallo' });
    expect(usual.text).toMatch(/^data: b['"]/);
    expect(usual.prompt).toContain('from its language to English');
  });

  it('translate and write programs', async () => {
    const code = { language_from: 'Go', language_to: 'Python', source_code: 'fmt.Println("Hello")' };
    expect((await ask('/v1/codetrans', code)).prompt).toContain('fmt.Println');
    expect((await ask('/v1/codegen', { messages: 'Sort a list.' })).prompt).toContain('Task: Sort a list.');
    const { language_to: _missing, ...rest } = code;
    const refused = await ask('/v1/codetrans', rest);
    expect(refused).toMatchObject({ status: 400 });
    expect(refused.text).toContain('language_to');
  });

  it('answer about pictures', async () => {
    const picture =
      'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    const content = [
      { type: 'text', text: 'What is it?' },
      { type: 'image_url', image_url: { url: picture } },
    ];
    const answer = await ask('/v1/visualqna', { messages: [{ role: 'user', content }], stream: false });
    expect(answer.status).toBe(200);
    expect(answer.prompt).toContain('What is it?');
    expect(answer.prompt).toContain('image_url');
  });

  it('list the fields of their templates', async () => {
    const response = await fetch(`${stack.gateway.url}/v1/list_parameters?verbose=true`);
    const listed = JSON.stringify(await response.json());
    expect(listed).toContain('Fills {language_from} of the template');
  });
});
