import { randomBytes } from 'node:crypto';
import { assert, property, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NotSealedHereError, Sealer } from './sealer.js';

const [one, two] = [randomBytes(32), randomBytes(32)];
const label = { kind: 'reasoning', owner: 'me' } as const;

describe('Sealer', () => {
  it('opens what it sealed, whatever it is', () => {
    const sealer = new Sealer([one]);
    assert(
      property(string({ unit: 'grapheme' }), (text) => {
        expect(sealer.open(label, sealer.seal(label, text))).toBe(text);
      }),
    );
  });

  it('never seals alike, and shows nothing of the text', () => {
    const sealer = new Sealer([one]);
    const sealed = sealer.seal(label, 'secret');
    expect(sealer.seal(label, 'secret')).not.toBe(sealed);
    expect(Buffer.from(sealed, 'base64url').toString('latin1')).not.toContain('secret');
  });

  it('opens what a former key sealed', () => {
    const sealed = new Sealer([one]).seal(label, 'text');
    expect(new Sealer([two, one]).open(label, sealed)).toBe('text');
    expect(() => new Sealer([two]).open(label, sealed)).toThrow(NotSealedHereError);
  });

  it.each([
    ['another owner', { ...label, owner: 'you' }],
    ['another kind', { ...label, kind: 'compaction' as const }],
  ])('opens nothing for %s', (_what, other) => {
    const sealer = new Sealer([one]);
    expect(() => sealer.open(other, sealer.seal(label, 'text'))).toThrow(NotSealedHereError);
  });

  it('opens nothing that was changed or comes from elsewhere', () => {
    const sealer = new Sealer([one]);
    const sealed = Buffer.from(sealer.seal(label, 'text'), 'base64url');
    for (let index = 0; index < sealed.length; index += 1) {
      const changed = Buffer.from(sealed);
      changed[index] = (changed[index] ?? 0) ^ 1;
      expect(() => sealer.open(label, changed.toString('base64url'))).toThrow(NotSealedHereError);
    }
    for (const foreign of ['', 'gAAAAABfoo', 'x'.repeat(1_000)])
      expect(() => sealer.open(label, foreign)).toThrow(NotSealedHereError);
  });

  it('needs whole keys', () => {
    expect(() => new Sealer([])).toThrow('needs a key');
    expect(() => new Sealer([randomBytes(16)])).toThrow('32 bytes');
  });
});
