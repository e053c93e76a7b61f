import { describe, expect, it } from 'vitest';
import { define, runWith } from '../dag.fixture.js';
import { listParameters, pickParameters, resolveParameters } from './parameters.js';

const rag = define(
  'embedding: { service: embedding }',
  'retrieval: { service: retrieval, after: [embedding], params: { search_type: hybrid } }',
  'llm: { service: llm, after: [retrieval], params: { max_tokens: 100, echo: true, suffix: "." }, stream: true, fallback: { params: { model: B } } }',
);

function resolve(overrides: Record<string, unknown>) {
  const all = resolveParameters(rag, overrides);
  return Object.fromEntries([...all].map(([node, { target }]) => [node, target]));
}

describe('resolveParameters', () => {
  it('takes the request before the YAML before the default of the service', () => {
    expect(resolve({})).toEqual({
      embedding: {},
      retrieval: { k: 4, search_type: 'hybrid' },
      llm: { max_tokens: 100, echo: true, suffix: '.' },
    });
    expect(resolve({ k: 9, max_tokens: 5 })).toMatchObject({ retrieval: { k: 9 }, llm: { max_tokens: 5 } });
  });

  it('keeps an explicit 0, false and empty string', () => {
    expect(resolve({ k: 0, echo: false, suffix: '' })).toMatchObject({
      retrieval: { k: 0 },
      llm: { echo: false, suffix: '' },
    });
  });

  it('leaves null and undefined unset', () => {
    expect(resolve({ k: null, max_tokens: undefined })).toMatchObject({
      retrieval: { k: 4 },
      llm: { max_tokens: 100 },
    });
  });

  it('sets a parameter of one node by its full name', () => {
    const two = define(
      'near: { service: retrieval }',
      'far: { service: retrieval }',
      'fusion: { service: fusion, inputs: { first: near, second: far } }',
    );
    const resolved = resolveParameters(two, { k: 2, 'far.k': 7 });
    expect(resolved.get('near')?.target).toEqual({ k: 2 });
    expect(resolved.get('far')?.target).toEqual({ k: 7 });
  });

  it("lets the fallback's own parameters win over the request's", () => {
    const resolved = resolveParameters(rag, { model: 'A', max_tokens: 5 });
    expect(resolved.get('llm')).toEqual({
      target: { max_tokens: 5, echo: true, suffix: '.', model: 'A' },
      fallback: { max_tokens: 5, echo: true, suffix: '.', model: 'B' },
    });
  });

  it('refuses a name that no node lists and a value out of range, by name', async () => {
    expect(() => resolve({ top_n: 1 })).toThrow('test has no parameter "top_n"');
    expect(() => resolve({ k: 300 })).toThrow(expect.objectContaining({ status: 400, param: 'k' }) as Error);
    const run = runWith(rag, {}, { parameters: { k: 300 } });
    await expect(run.result).rejects.toMatchObject({ code: 'invalid_request', param: 'k' });
    expect(run.calls).toEqual([]);
    expect((await run.settled).nodes.every(({ state }) => state === 'cancelled')).toBe(true);
  });
});

describe('pickParameters', () => {
  it('takes the listed names out of a body, falsy values included', () => {
    const body = {
      messages: [],
      k: 0,
      echo: false,
      suffix: '',
      stop: null,
      'retrieval.k': 3,
      constructor: 1,
    };
    expect(pickParameters(rag, body)).toEqual({ k: 0, echo: false, suffix: '', 'retrieval.k': 3 });
  });
});

describe('locked parameters', () => {
  const confined = define(
    'retrieval: { service: retrieval, params: { search_type: hybrid }, locked: [search_type] }',
    'llm: { service: llm, after: [retrieval], params: { max_tokens: 100 }, locked: true }',
  );

  it('are not listed, and no request sets them', () => {
    const body = {
      search_type: 'vector',
      'retrieval.search_type': 'vector',
      k: 9,
      max_tokens: 5,
      'llm.echo': true,
    };
    expect(pickParameters(confined, body)).toEqual({ k: 9 });
    expect(() => resolveParameters(confined, { max_tokens: 5 })).toThrow(/has no parameter "max_tokens"/);
    expect(resolveParameters(confined, { k: 9 }).get('retrieval')?.target).toEqual({
      k: 9,
      search_type: 'hybrid',
    });
    expect(listParameters(confined).map(({ name }) => name)).toEqual(['k']);
  });

  it('stay locked where another node lists the same name', () => {
    const two = define(
      'near: { service: retrieval, params: { k: 1 }, locked: [k] }',
      'far: { service: retrieval }',
      'fusion: { service: fusion, inputs: { first: near, second: far } }',
    );
    const resolved = resolveParameters(two, { k: 7 });
    expect(resolved.get('near')?.target).toEqual({ k: 1 });
    expect(resolved.get('far')?.target).toEqual({ k: 7 });
  });

  it('have to exist', () => {
    expect(() => define('retrieval: { service: retrieval, locked: [nonsense] }')).toThrow(/nonsense/);
  });
});

const listedService = define(
  'retrieval: { service: retrieval }',
  'llm: { service: llm, after: [retrieval], params: { max_tokens: 0x40 }, stream: true }',
);

describe('listParameters', () => {
  it('gives type, range, description and the default that is in force', () => {
    const listed = listParameters(listedService);
    expect(listed.map(({ node, name, type }) => [node, name, type])).toEqual([
      ['retrieval', 'k', 'integer'],
      ['retrieval', 'search_type', 'string'],
      ['llm', 'max_tokens', 'integer'],
      ['llm', 'stop', 'string'],
      ['llm', 'model', 'string'],
      ['llm', 'echo', 'boolean'],
      ['llm', 'suffix', 'string'],
    ]);
    expect(listed[0]).toMatchObject({
      default: 4,
      description: 'Passages to return',
      schema: { minimum: 0, maximum: 200 },
    });
    expect(listed[2]).toMatchObject({ default: 64, schema: { minimum: 1 } });
    expect(listed[2]?.schema).not.toHaveProperty('maximum');
    expect(listed[1]?.schema).toMatchObject({ enum: ['similarity', 'hybrid'] });
    expect(listed[3]?.schema).toHaveProperty('anyOf');
  });

  it('gives what only a fallback takes, unless the fallback fixes it', () => {
    const definition = define(
      'step: { service: retrieval, fallback: { service: reranked, params: { top_n: 2 } } }',
    );
    expect(listParameters(definition).map(({ name }) => name)).toEqual(['k', 'search_type', 'depth']);
  });
});
