import { describe, expect, it } from 'vitest';
import { define } from '../dag.fixture.js';
import { listParameters } from './list.js';

const rag = define(
  'retrieval: { service: retrieval }',
  'llm: { service: llm, after: [retrieval], params: { max_tokens: 0x40 }, stream: true }',
);

describe('listParameters', () => {
  it('gives type, range, description and the default that is in force', () => {
    const listed = listParameters(rag);
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
