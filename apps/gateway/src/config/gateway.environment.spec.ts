import { describe, expect, it } from 'vitest';
import { aliasOf, modelAliasesSchema } from './gateway.environment.js';

describe('MODEL_ALIASES', () => {
  it('names models, and turns the usual names on', () => {
    const aliases = modelAliasesSchema.parse('usual, my-gpt = chatqna');
    expect(aliasOf(aliases, 'my-gpt', 'answers')).toEqual({ model: 'chatqna' });
    expect(aliasOf(aliases, 'gpt-4o', 'answers')).toBe('served');
    expect(aliasOf(aliases, 'o3-mini', 'answers')).toBe('served');
    expect(aliasOf(aliases, 'whisper-1', 'transcripts')).toBe('served');
    expect(aliasOf(aliases, 'gpt-4o-mini-transcribe', 'transcripts')).toBe('served');
    expect(aliasOf(aliases, 'text-embedding-3-small', 'vectors')).toBe('served');
  });

  it.each([
    ['gpt-4o-transcribe', 'answers'],
    ['gpt-4o', 'vectors'],
    ['tts-1', 'answers'],
    ['other', 'answers'],
  ] as const)('does not take %s for %s', (name, use) => {
    expect(aliasOf(modelAliasesSchema.parse('usual'), name, use)).toBeUndefined();
  });

  it('has no names where nothing is set, and refuses what it cannot read', () => {
    expect(aliasOf(modelAliasesSchema.parse(undefined), 'gpt-4o', 'answers')).toBeUndefined();
    expect(modelAliasesSchema.safeParse('gpt-4o').error?.message).toContain('must be usual or name=model');
  });
});
