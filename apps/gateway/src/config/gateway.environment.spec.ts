import { describe, expect, it } from 'vitest';
import { modelAliasesSchema, usualUseOf } from './gateway.environment.js';

describe('MODEL_ALIASES', () => {
  it('names models, and turns the usual names on for several models', () => {
    const { names, usual } = modelAliasesSchema.parse('usual, my-gpt = chatqna');
    expect([...names]).toEqual([['my-gpt', 'chatqna']]);
    expect(usual).toBe(true);
    expect(modelAliasesSchema.parse(undefined)).toEqual({ names: new Map(), usual: false });
  });

  it.each([
    ['gpt-4o', 'must be usual or name=model'],
    ['a=b,b=nano-chat', 'a=b: b is an alias itself; name its model, nano-chat'],
    ['b=nano-chat,a=b', 'a=b: b is an alias itself'],
    ['a=a', 'a=a: a is an alias itself'],
  ])('refuses %s', (text, message) => {
    expect(modelAliasesSchema.safeParse(text).error?.message).toContain(message);
  });
});

it.each([
  ['gpt-4o', 'answers'],
  ['o3-mini', 'answers'],
  ['command-a-03-2025', 'answers'],
  ['claude-sonnet-4-5', 'answers'],
  ['whisper-1', 'transcripts'],
  ['gpt-4o-mini-transcribe', 'transcripts'],
  ['openai/whisper-small', 'transcripts'],
  ['tts-1', 'speech'],
  ['tts-1-hd', 'speech'],
  ['gpt-4o-mini-tts', 'speech'],
  ['microsoft/speecht5_tts', 'speech'],
  ['text-embedding-3-small', 'vectors'],
  ['embed-v4.0', 'vectors'],
  ['BAAI/bge-base-en-v1.5', 'vectors'],
  ['rerank-v3.5', 'ranking'],
  ['rerank-english-v3.0', 'ranking'],
  ['BAAI/bge-reranker-base', 'ranking'],
  ['gpt-4o-realtime-preview', undefined],
  ['gpt-image-1', undefined],
  ['nano-chat', undefined],
  ['', undefined],
] as const)('knows what %s is used for', (name, use) => {
  expect(usualUseOf(name)).toBe(use);
});
