import type { RpcClient } from '#platform/messaging';
import { describe, expect, it } from 'vitest';
import { modelAliasesSchema } from '../config/gateway.environment.js';
import { ModelCatalog, type ServedModel } from './model-catalog.js';

/** A catalog of these running language models, the first of which answers requests without a name, and of `nano-<use>`. */
function catalogOf(
  llms: string[],
  { aliases = '', ...more }: { aliases?: string; DEFAULT_MODEL?: string } = {},
) {
  const infoOf = (id: string) => ({ id, revision: '1', backend: 'test', maxInputTokens: 10, created: 1 });
  const client = {
    lacks: () => false,
    requestAll: () => Promise.resolve(llms.map(infoOf)),
    request: ({ service }: { service: string }, _payload: unknown, { model }: { model?: string }) => {
      const llm = llms.find((id) => id === model) ?? llms[0];
      if (service === 'llm' && llm === undefined) return Promise.reject(new Error('the llm service is away'));
      return Promise.resolve(infoOf(service === 'llm' ? llm! : `nano-${service}`));
    },
  };
  const MODEL_ALIASES = modelAliasesSchema.parse(aliases);
  return new ModelCatalog(client as unknown as RpcClient, {
    MODEL_ALIASES,
    DEFAULT_MEGASERVICE: 'chatqna',
    ...more,
  });
}

/** A key that may ask these models. */
const keyFor = (...models: string[]) => ({ caller: { name: 'key', models: new Set(models) } as never });
const refused = { code: 'insufficient_scope', param: 'model' };

describe('the name of a model', () => {
  it.each([undefined, null, ''])('is absent where a request has %j', async (name) => {
    for (const use of ['answers', 'vectors', 'ranking', 'transcripts', 'speech'] as const)
      expect(await catalogOf(['nano-chat']).resolve(name, use, {})).toEqual({ isNamed: false });
  });

  it.each([
    ['gpt-4o', 'answers', 'nano-chat'],
    ['text-embedding-3-small', 'vectors', undefined],
    ['rerank-v3.5', 'ranking', undefined],
    ['whisper-1', 'transcripts', undefined],
    ['tts-1', 'speech', undefined],
  ] as const)('%s means the one model for %s', async (name, use, model) => {
    expect(await catalogOf(['nano-chat']).resolve(name, use, {})).toEqual({ model, isNamed: false });
  });

  it.each([
    ['whisper-1', 'answers'],
    ['gpt-4o', 'vectors'],
    ['nano-chat', 'answers'],
    ['other', 'answers'],
  ] as const)('%s stays for %s', async (name, use) => {
    expect(await catalogOf(['nano-chat']).resolve(name, use, {})).toEqual({ model: name, isNamed: true });
  });

  it('means the model or mega service that has the name itself', async () => {
    const same = { model: 'gpt-4o', isNamed: true };
    expect(await catalogOf(['nano-chat', 'gpt-4o']).resolve('gpt-4o', 'answers', {})).toEqual(same);
    expect(await catalogOf(['nano-chat']).resolve('gpt-4o', 'answers', {}, () => true)).toEqual(same);
  });

  it('means one of several models only where the operator says which', async () => {
    const models = ['nano-chat', 'other'];
    const first = { model: 'nano-chat', isNamed: false };
    expect(await catalogOf(models).resolve('gpt-4o', 'answers', {})).toEqual({
      model: 'gpt-4o',
      isNamed: true,
    });
    expect(await catalogOf(models, { aliases: 'usual' }).resolve('gpt-4o', 'answers', {})).toEqual(first);
    const other = catalogOf(models, { DEFAULT_MODEL: 'other' });
    expect(await other.resolve('gpt-4o', 'answers', {})).toEqual({ model: 'other', isNamed: false });
  });

  it('means what an alias says', async () => {
    const catalog = catalogOf(['nano-chat'], { aliases: 'gpt-4o=chatqna,my-asr=nano-asr' });
    for (const isMegaService of [() => false, () => true])
      expect(await catalog.resolve('gpt-4o', 'answers', {}, isMegaService)).toEqual({
        model: 'chatqna',
        isNamed: false,
      });
    expect(await catalog.resolve('my-asr', 'transcripts', {})).toEqual({ model: 'nano-asr', isNamed: false });
  });

  it('reports a language model that is away', async () => {
    await expect(catalogOf([]).resolve('gpt-4o', 'answers', {})).rejects.toThrow('the llm service is away');
  });

  it('counts for keys as it was asked for, and as the model is called', async () => {
    const catalog = catalogOf(['nano-chat'], { aliases: 'my-gpt=nano-chat' });
    for (const key of [keyFor('my-gpt'), keyFor('nano-chat')])
      expect(await catalog.resolve('my-gpt', 'answers', key)).toMatchObject({ model: 'nano-chat' });
    for (const key of [keyFor('whisper-1'), keyFor('nano-asr')])
      expect(await catalog.resolve('whisper-1', 'transcripts', key)).toMatchObject({ model: 'nano-asr' });
    await expect(catalog.resolve('my-gpt', 'answers', keyFor('other'))).rejects.toMatchObject(refused);
    await expect(catalog.resolve('tts-1', 'speech', keyFor('other'))).rejects.toMatchObject(refused);
  });
});

it('says which listed model a name stands for', () => {
  const listed = (service: string, id: string) => ({ service, id }) as ServedModel;
  const served = [listed('llm', 'nano-chat'), listed('asr', 'nano-asr')];
  const catalog = catalogOf(['nano-chat'], { aliases: 'my-gpt=chatqna' });
  expect(catalog.standsFor('my-gpt', served)).toBe('chatqna');
  expect(catalog.standsFor('gpt-4o', served)).toBe('nano-chat');
  expect(catalog.standsFor('whisper-1', served)).toBe('nano-asr');
  expect(catalog.standsFor('tts-1', served)).toBeUndefined();
  expect(catalog.standsFor('other', served)).toBeUndefined();
  expect(catalog.standsFor('gpt-4o', [...served, listed('llm', 'second')])).toBeUndefined();
});
