import { afterEach, describe, expect, it } from 'vitest';
import type { OutputConstraint } from '#platform/contracts';
import { ConstraintReader } from './grammar-compiler.js';

const quick: OutputConstraint = { type: 'choice', choices: ['a', 'b'] };
/** Takes seconds to read. */
const slow: OutputConstraint = { type: 'regex', pattern: String.raw`[^\p{L}x]`.repeat(7000) };

describe('ConstraintReader', () => {
  let reader: ConstraintReader | undefined;
  afterEach(() => reader?.close());

  it('reads a constraint once', async () => {
    reader = new ConstraintReader();
    const read = await reader.read(quick);
    expect(read.grammar.root).toMatchObject({ kind: 'choice' });
    expect((await reader.read({ ...quick, at: 'guided_choice' })).grammar).toBe(read.grammar);
  });

  it('says what cannot be honored', async () => {
    reader = new ConstraintReader();
    await expect(reader.read({ type: 'regex', pattern: '(a)\\1' })).rejects.toThrow(/^constraint.pattern: /);
  });

  it('ends what takes too long, and goes on with the next one', async () => {
    reader = new ConstraintReader(200);
    await expect(reader.read(slow)).rejects.toThrow(/longer than 200 ms/);
    expect((await reader.read(quick)).grammar.root).toMatchObject({ kind: 'choice' });
  });
});
