import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startEngineStack, type EngineStack } from './helpers/engine-stack.js';
import { engineModel, type EngineBody, type EngineTurn } from './helpers/scripted-engine.js';

const question = 'What does passage one say?';
let stack: EngineStack;

beforeAll(async () => {
  stack = await startEngineStack({
    model: { max_model_len: 4096, owned_by: 'vllm' },
    // The template of the model ends its prompts with the mark of its reasoning, as those of DeepSeek-R1 do.
    prepare: (engine) => {
      engine.routes['/tokenize'] = (body) =>
        (body as { return_token_strs?: boolean }).return_token_strs
          ? { count: 3, token_strs: ['<|Assistant|>', '<think>', 'Ċ'] }
          : { count: 30 };
    },
  });
});
afterAll(() => stack?.stop());
afterEach(() => {
  stack.engine.script = undefined;
});

async function ask(path: string, body: object) {
  const before = stack.engine.asked.length;
  const response = await stack.post(path, body);
  const text = await response.text();
  return {
    status: response.status,
    text,
    json: () =>
      JSON.parse(text) as { error?: object; choices: { message: Record<string, unknown> }[]; usage: object },
    asked: stack.engine.asked.slice(before),
    ignored: response.headers.get('x-meganest-ignored'),
  };
}

const chat = (body: object) => ask('/v1/chat/completions', { model: 'chatqna', messages: question, ...body });
const inTurn = (...turns: EngineTurn[]) => {
  stack.engine.script = () => turns.shift() ?? { text: 'nothing more' };
};

describe('fields that only engines understand', () => {
  it.each([engineModel, 'chatqna'])('reach the engine through %s', async (model) => {
    const labels = { verbosity: 'low', service_tier: 'flex', prompt_cache_key: 'key' };
    const { asked, ignored } = await chat({ model, ...labels, reasoning_effort: 'low' });
    expect(asked[0]).toMatchObject({ ...labels, reasoning_effort: 'low' });
    expect(ignored).toBeNull();
    const response = await ask('/v1/responses', {
      model,
      input: question,
      text: { verbosity: 'high' },
      reasoning: { effort: 'low' },
      service_tier: 'priority',
    });
    expect(response.asked[0]).toMatchObject({
      verbosity: 'high',
      reasoning_effort: 'low',
      service_tier: 'priority',
    });
    expect(response.ignored).toBeNull();
  });

  it.each([engineModel, 'chatqna'])(
    'are left out and named if the engine of %s refuses them',
    async (model) => {
      stack.engine.script = (body) => {
        const message = "Unsupported value: 'top_p' does not support 0.4 with this model.";
        return 'top_p' in body ? { refuse: { status: 400, body: { error: { message } } } } : { text: 'Hi.' };
      };
      const temperature = { temperature: 0.4, top_p: 0.4 };
      expect(await chat({ model, ...temperature })).toMatchObject({ status: 200, ignored: 'top_p' });
      const { ignored, asked } = await chat({ model, ...temperature, stream: true });
      expect(ignored).toBe('top_p');
      expect(asked).toHaveLength(1);
      const response = await ask('/v1/responses', { model, input: question, ...temperature });
      expect(response).toMatchObject({ status: 200, ignored: 'top_p' });
    },
  );
});

describe('a model that reasons', () => {
  const spent: EngineTurn = { reasoning: 'I wonder [2].', finish: 'length' };

  it('is asked once more without reasoning if it wrote no answer', async () => {
    inTurn(spent, { text: 'Passage 1 says 1 [1].' });
    const { status, json, asked } = await chat({});
    expect(status).toBe(200);
    expect(json().choices[0]?.message['content']).toMatch(/^Passage 1 says 1/);
    expect(asked).toHaveLength(2);
    expect(asked[1]).toMatchObject({ chat_template_kwargs: { enable_thinking: false } });
  });

  it.each([true, false])('is an error if no answer comes (streamed: %s)', async (stream) => {
    inTurn(spent, spent);
    const { text, asked } = await chat({ stream, max_tokens: 20 });
    expect(asked).toHaveLength(2);
    expect(text).toMatch(/max_tokens: 20.*reasoning/);
    inTurn(spent, spent);
    const plain = await chat({ stream });
    expect(plain.text).toMatch(/bad_upstream/);
  });

  it('names the field of a response', async () => {
    inTurn(spent, spent);
    const { json } = await ask('/v1/responses', { model: 'chatqna', input: question, max_output_tokens: 20 });
    expect(json().error).toMatchObject({
      param: 'max_output_tokens',
      message: expect.stringMatching('max_output_tokens: 20') as string,
    });
  });

  it('may begin its answer within the reasoning; numbers there are no citations', async () => {
    const text = 'Maybe [2]. No, one.\n</think>\n\nPassage 1 says 1 [1].';
    inTurn({ text }, { text });
    const { json } = await chat({});
    expect(json().choices[0]?.message).toMatchObject({
      content: 'Passage 1 says 1 [1].',
      reasoning_content: 'Maybe [2]. No, one.',
      annotations: [{ url_citation: { filename: 'file-1.md' } }],
    });
    expect(json().usage).toMatchObject({
      completion_tokens_details: { reasoning_tokens: expect.any(Number) as number },
    });
    const streamed = await chat({ stream: true });
    expect(streamed.text).toMatch(/"reasoning_content":"Maybe/);
    expect(streamed.text).not.toMatch(/"content":"[^"]*(?:Maybe|think)/);
    expect(streamed.text).not.toMatch('file-2.md');
  });
});

describe('a call with a bare value in place of the arguments', () => {
  const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
  const tools = [{ type: 'function', function: { name: 'weather', parameters, strict: true } }];

  it.each([true, false])('gets the value in its only field (streamed: %s)', async (stream) => {
    inTurn({ calls: [{ name: 'weather', arguments: '"Paris"' }] });
    const { text, asked } = await chat({
      model: engineModel,
      tools,
      tool_choice: { type: 'function', function: { name: 'weather' } },
      stream,
    });
    expect(asked).toHaveLength(1);
    expect(text).toContain(String.raw`{\"city\":\"Paris\"}`);
  });
});

describe('LLM_PARAMETERS', () => {
  it('has precedence over the profile, and the caller over it', async () => {
    const other = await startEngineStack({
      env: { LLM_PARAMETERS: '{"temperature": 0.2, "reasoning_effort": "none"}' },
      model: { owned_by: 'vllm' },
    });
    try {
      const bodies: EngineBody[] = [];
      for (const more of [{}, { temperature: 0.9 }]) {
        await other.post('/v1/chat/completions', { model: 'chatqna', messages: question, ...more });
        bodies.push(other.engine.asked.at(-1)!);
      }
      expect(bodies.map(({ temperature }) => temperature)).toEqual([0.2, 0.9]);
      expect(bodies[0]).toMatchObject({ chat_template_kwargs: { enable_thinking: false } });
    } finally {
      await other.stop();
    }
  });
});
