import { expect, it } from 'vitest';
import { readLauncherEnvironment } from './environment.js';
import { lookForEngine } from './local-engine.js';

const models = ['qwen3:8b', 'llama3.2'].map((id) => ({ id, uses: ['chat'] as const }));
const ollama = { url: 'http://127.0.0.1:11434', kind: 'ollama' as const, models };
const look = (variables: NodeJS.ProcessEnv, found = [ollama]) =>
  lookForEngine(readLauncherEnvironment(variables), () => Promise.resolve(found));

it('says what it found, and the command that uses it', async () => {
  expect(await look({})).toEqual({
    line: 'Found Ollama at http://127.0.0.1:11434 (qwen3:8b, llama3.2). To use it: MEGANEST_ENGINE=auto npm start',
    variables: {},
  });
});

it('uses it with auto, and the model that is wanted', async () => {
  expect((await look({ MEGANEST_ENGINE: 'auto' })).variables).toEqual({
    LLM_ENDPOINT: 'http://127.0.0.1:11434/v1',
    LLM_MODEL_ID: 'qwen3:8b',
  });
  const { variables } = await look({ MEGANEST_ENGINE: 'auto', LLM_MODEL_ID: 'llama3.2' });
  expect(variables['LLM_MODEL_ID']).toBe('llama3.2');
});

it.each([[{ LLM_ENDPOINT: 'http://gpu:8000/v1' }], [{ MEGANEST_ENGINE: 'off' }]])(
  'does not look with %o',
  async (variables) => {
    const find = () => Promise.reject(new Error('looked'));
    expect(await lookForEngine(readLauncherEnvironment(variables), find)).toEqual({ variables: {} });
  },
);

it('says with auto that there is none', async () => {
  expect(await look({ MEGANEST_ENGINE: 'auto' }, [])).toEqual({
    line: expect.stringContaining('No engine was found') as string,
    variables: {},
  });
  expect(await look({}, [])).toEqual({ variables: {} });
});
