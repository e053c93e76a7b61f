import { MegaNestError, type ModelInfo } from '#platform/contracts';
import { parseMegaService, type MegaServiceDefinition } from '#platform/dag';
import type { RpcClient } from '#platform/messaging';
import type { HttpCall } from '#platform/service-kit';
import { describe, expect, it } from 'vitest';
import { modelAliasesSchema } from '../config/gateway.environment.js';
import { builtInNodes } from '../mega-services/nodes/built-in-nodes.js';
import { ModelCatalog } from '../models/model-catalog.js';
import { ModelDirectory } from './model-directory.js';

const definition = parseMegaService(
  'name: docs\ndescription: A test.\nnodes:\n  llm: { service: llm }',
  'docs.yaml',
  { registry: builtInNodes },
);

interface Served {
  llm?: Partial<ModelInfo>;
  megaServices?: MegaServiceDefinition[];
  aliases?: string;
  only?: boolean;
}

/** A directory over one language model, which is away where it is absent. */
function directoryOf({ llm, megaServices = [], aliases = '', only = false }: Served) {
  let requests = 0;
  const info = { id: 'nano-chat', revision: '1', backend: 'test', maxInputTokens: 10, created: 1, ...llm };
  const client = {
    lacks: () => false,
    requestAll: () => Promise.resolve(llm ? [info] : []),
    request: () => {
      requests++;
      if (llm) return Promise.resolve(info);
      return Promise.reject(new MegaNestError('service_unavailable', { service: 'llm', detail: 'away' }));
    },
  };
  const MODEL_ALIASES = modelAliasesSchema.parse(aliases);
  const environment = { MODEL_ALIASES, DEFAULT_MEGASERVICE: 'docs', MEGA_SERVICES_ONLY: only };
  const directory = new ModelDirectory(
    {
      find: (name) => megaServices.find((one) => one.name === name),
      default: () => megaServices[0] ?? definition,
      list: () => megaServices,
    },
    new ModelCatalog(client as unknown as RpcClient, environment),
    environment,
  );
  return { directory, requests: () => requests };
}

const call = {} as HttpCall;
/** A call with a key that may ask these models. */
const keyFor = (...models: string[]) => ({ caller: { name: 'key', models: new Set(models) } }) as never;

describe('a language model', () => {
  it('is described once for every question about it', async () => {
    const { directory, requests } = directoryOf({ llm: { callsTools: true, modalities: ['text', 'image'] } });
    const opened = await directory.open('nano-chat', call);
    expect(opened).toMatchObject({ name: 'nano-chat', isNamed: true, languageModel: 'nano-chat' });
    expect(opened).toMatchObject({ takesForms: true, input: ['text', 'image'], revision: '1' });
    expect(requests()).toBe(1);
  });

  it('that does not exist, or is away, is an error when it answers', async () => {
    const unknown = await directoryOf({ llm: {}, megaServices: [definition] }).directory.open('other', call);
    expect(() => unknown.require()).toThrow('The model other does not exist. Available: docs, nano-chat');
    const away = await directoryOf({}).directory.open('nano-chat', call);
    expect(() => away.input).toThrow(expect.objectContaining({ code: 'service_unavailable' }));
    expect(away.takesForms).toBe(true);
  });

  it('does not answer where mega services alone are served', async () => {
    const opened = await directoryOf({ llm: {}, only: true }).directory.open('nano-chat', call);
    expect(() => opened.require()).toThrow(
      expect.objectContaining({ code: 'model_not_found', param: 'model' }),
    );
  });

  it('is the one of an alias, for a key of the alias and for a key of the model', async () => {
    const { directory } = directoryOf({ llm: {}, aliases: 'my-gpt=nano-chat' });
    for (const key of [keyFor('my-gpt'), keyFor('nano-chat')]) {
      const opened = await directory.open('my-gpt', key);
      expect(opened).toMatchObject({ name: 'nano-chat', isNamed: false });
      expect((await directory.openResolved(opened.resolved, call)).require().id).toBe('nano-chat');
    }
    await expect(directory.open('my-gpt', keyFor('other'))).rejects.toMatchObject({
      code: 'insufficient_scope',
    });
  });
});

describe('a mega service', () => {
  it('is the default one without a name, with the abilities of its language model', async () => {
    const { directory } = directoryOf({ llm: { modalities: ['text', 'image'] }, megaServices: [definition] });
    const opened = await directory.open('', call);
    expect(opened).toMatchObject({ name: 'docs', definition, takesForms: true, input: ['text', 'image'] });
    expect(opened.revision).not.toBe(definition.revision);
    expect(opened.languageModelAlone).toMatchObject({ name: 'nano-chat', definition: undefined });
  });

  it('is opened while its language model is away', async () => {
    const opened = await directoryOf({ megaServices: [definition] }).directory.open('docs', call);
    expect(opened).toMatchObject({ takesForms: false, input: ['text'], revision: definition.revision });
  });
});
