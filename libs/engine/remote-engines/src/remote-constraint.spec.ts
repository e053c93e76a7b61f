import { describe, expect, it } from 'vitest';
import type { OutputConstraint } from '#platform/contracts';
import type { EngineKind } from './engine-kind.js';
import { remoteParameters } from './remote-constraint.js';

const tags = [{ begin: '<a>', end: '</a>', schema: { type: 'object' } }];

describe('remoteParameters', () => {
  it('sends a share that engines accept for top_p 0', () => {
    expect(remoteParameters({ top_p: 0, top_k: -1 })).toEqual({ top_p: 1e-6, top_k: -1 });
    expect(remoteParameters({ top_p: 0.5 })).toEqual({ top_p: 0.5 });
  });

  it('says JSON in response_format and the rest in structured_outputs', () => {
    const schema = { type: 'object' };
    expect(remoteParameters({ seed: 1, constraint: { type: 'json_schema', schema } })).toEqual({
      seed: 1,
      response_format: { type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } },
    });
    expect(remoteParameters({ constraint: { type: 'json_object' } })).toEqual({
      response_format: { type: 'json_object' },
    });
    expect(remoteParameters({ constraint: { type: 'regex', pattern: 'a+' } })).toEqual({
      structured_outputs: { regex: 'a+' },
    });
    expect(remoteParameters({ constraint: { type: 'choice', choices: ['a', 'b'] } })).toEqual({
      structured_outputs: { choice: ['a', 'b'] },
    });
    expect(remoteParameters({ constraint: { type: 'grammar', grammar: 'root ::= "a"' } })).toEqual({
      structured_outputs: { grammar: 'root ::= "a"' },
    });
    expect(remoteParameters({ constraint: { type: 'structural_tag', triggers: ['<a'], tags } })).toEqual({
      response_format: { type: 'structural_tag', structures: tags, triggers: ['<a'] },
    });
  });

  it('says any JSON object as a schema to LM Studio, which refuses json_object', () => {
    expect(remoteParameters({ constraint: { type: 'json_object' } }, 'lm-studio')).toEqual({
      response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: { type: 'object' } } },
    });
  });

  it.each<[EngineKind, object, object, object]>([
    [
      'vllm',
      { structured_outputs: { regex: 'a+' }, guided_regex: 'a+' },
      { structured_outputs: { choice: ['a.', 'b'] }, guided_choice: ['a.', 'b'] },
      { structured_outputs: { grammar: 'root ::= "a"' }, guided_grammar: 'root ::= "a"' },
    ],
    ['sglang', { regex: 'a+' }, { regex: String.raw`a\.|b` }, { ebnf: 'root ::= "a"' }],
    [
      'llama.cpp',
      { structured_outputs: { regex: 'a+' } },
      { grammar: 'root ::= "a." | "b"' },
      { grammar: 'root ::= "a"' },
    ],
  ])('says expressions, choices and grammars as %s reads them', (kind, regex, choice, grammar) => {
    const said = (constraint: OutputConstraint) => remoteParameters({ constraint }, kind);
    expect(said({ type: 'regex', pattern: 'a+' })).toEqual(regex);
    expect(said({ type: 'choice', choices: ['a.', 'b'] })).toEqual(choice);
    expect(said({ type: 'grammar', grammar: 'root ::= "a"' })).toEqual(grammar);
  });

  it('refuses what the server could not keep', () => {
    const tag = { type: 'structural_tag' as const, triggers: ['<a'], tags };
    const refused = (parameters: Parameters<typeof remoteParameters>[0], param: string) =>
      expect(() => remoteParameters(parameters)).toThrow(
        expect.objectContaining({ code: 'invalid_request', param }),
      );
    refused({ constraint: { ...tag, required: true } }, 'constraint.required');
    refused({ constraint: { ...tag, single: true } }, 'constraint.single');
    refused({ best_of: 3 }, 'best_of');
    expect(remoteParameters({ n: 2, best_of: 2 })).toEqual({ n: 2 });
  });
});
