import type { OutputConstraint } from '#platform/contracts';
import type { TokenVocabulary } from '#engine/models';
import { describe, expect, it } from 'vitest';
import { GrammarCompiler } from './grammar-compiler.js';
import { readConstraint } from './constraint-grammar.js';

const texts = ['<end>', '{', '}', '"', 'a', 'b', '":', ' ', ':', ',', '1', '"}', '[', ']'];
const [end] = [0];
const ends = new Set([end]);
const vocabulary = {
  bytesOf: (id: number) => Buffer.from(texts[id]!),
  droppedSpaces: 0,
} as unknown as TokenVocabulary;

/** A model that would end its answer now, and otherwise writes this one of the tokens. */
function next(constraint: OutputConstraint, begun: string, favorite: string, endLogit = 9): string {
  const compiler = new GrammarCompiler(vocabulary, texts.length, [end]);
  const answer = compiler.compile({ key: '', grammar: readConstraint(constraint) }).start();
  for (const letter of begun) answer.accept(texts.indexOf(letter));
  const logits = new Float32Array(texts.length).fill(-20);
  logits[end] = endLogit;
  logits[texts.indexOf(favorite)] = 5;
  answer.restrict(logits, ends);
  return texts[logits.indexOf(Math.max(...logits))]!;
}

const free: OutputConstraint = {
  type: 'json_schema',
  schema: { type: 'object', properties: { a: { type: 'string' }, b: { type: 'integer' } }, required: ['a'] },
};

describe('TokenConstraint', () => {
  it.each([
    ['{"a":"', '"'],
    ['{"a":"ab', '"'],
    ['{"a":"ab"', '}'],
    ['{"a":"ab","b":1', '}'],
    ['', '{'],
  ])('brings %s to its end where the model would end', (begun, token) => {
    expect(next(free, begun, 'a')).toBe(token);
  });

  it('goes on where the model would, and ends where it may', () => {
    expect(next(free, '{"a":"ab', 'b', -9)).toBe('b');
    expect(next(free, '{"a":"ab"}', 'b')).toBe('<end>');
  });

  it('leaves the choice to the model where no one way is the shortest', () => {
    const short: OutputConstraint = { type: 'json_schema', schema: { type: 'string', minLength: 3 } };
    expect(next(short, '"a', 'b')).toBe('b');
    expect(next(short, '"aab', 'b')).toBe('"');
    expect(next({ type: 'json_object' }, '{"a":[1', '1')).toBe(']');
    expect(next({ type: 'regex', pattern: '(a|b)+1' }, 'ab', 'a')).toBe('1');
  });
});
