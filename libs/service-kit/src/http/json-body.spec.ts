import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeBody, parseJsonBody } from './json-body.js';

describe('decodeBody', () => {
  it('refuses what is not UTF-8', () => {
    expect(decodeBody(Buffer.from('{"a":"é"}'))).toBe('{"a":"é"}');
    expect(() => decodeBody(Buffer.of(0x22, 0xc3, 0x28, 0x22))).toThrow(/not valid UTF-8/);
  });
});

describe('parseJsonBody', () => {
  it('reads what JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 10 }), (text) => {
        expect(parseJsonBody(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  it('takes an empty body as an empty object', () => {
    expect(parseJsonBody('  ')).toEqual({});
  });

  it('says what is wrong with broken JSON', () => {
    expect(() => parseJsonBody('{"a":')).toThrow(/not valid JSON: .+/);
  });

  it('refuses nesting beyond 64 levels, but not brackets inside strings', () => {
    expect(() => parseJsonBody('['.repeat(65) + ']'.repeat(65))).toThrow(/deeper than 64/);
    expect(parseJsonBody(JSON.stringify('['.repeat(100)))).toBe('['.repeat(100));
    expect(parseJsonBody(JSON.stringify(`"${'{'.repeat(100)}\\`))).toBe(`"${'{'.repeat(100)}\\`);
  });
});
