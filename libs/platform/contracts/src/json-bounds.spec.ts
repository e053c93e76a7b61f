import { describe, expect, it } from 'vitest';
import { assertJsonBounds, bodyBounds } from './json-bounds.js';

const bounds = { depth: 3, containers: 5, values: 12, elements: 8, keys: 4 };
const check = (value: unknown) => () => assertJsonBounds(JSON.stringify(value), bounds);

describe('assertJsonBounds', () => {
  it.each([
    ['nesting', [[[[]]]], /nested deeper than 3 levels/],
    ['empty objects', [{}, {}, {}, {}, {}, {}], /more than 5 objects and lists/],
    ['numbers', [Array(7).fill(-1), Array(7).fill(-1)], /more than 12 elements and fields/],
    ['elements of one list', Array.from({ length: 9 }, () => -1), /a list with more than 8 elements/],
    ['fields of one object', { a: 1, b: 1, c: 1, d: 1, e: 1 }, /an object with more than 4 fields/],
  ])('refuses too much of %s', (_name, value, message) => {
    expect(check(value)).toThrow(message);
  });

  it.each([
    [{ messages: [{}, { content: Array(9).fill(1) }] }, 'messages[1].content'],
    [{ a: { b: { c: {} } } }, 'a.b.c'],
    [[Array(7).fill(1), Array(7).fill(1)], '[1]'],
    [{ tools: [{}, {}, {}, {}, {}] }, 'tools[3]'],
    [{ 'a"b': { x: [[1]] } }, String.raw`a\"b.x[0]`],
    [Array(9).fill(1), null],
    [{ a: 1, b: 1, c: 1, d: 1, e: 1 }, null],
  ])('names the place of what is too much in %j', (value, param) => {
    let thrown: unknown;
    try {
      check(value)();
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ code: 'invalid_request' });
    expect((thrown as { param?: string }).param).toBe(param);
  });

  it('counts nothing inside strings, whatever is escaped there', () => {
    const text = String.raw`[[[[{{{{,,,,::::"\"\\"` + '\\';
    expect(check([text, `${text}"`, { [text]: text }])).not.toThrow();
    expect(() => assertJsonBounds(String.raw`["\\", [[[]]]]`, bounds)).toThrow(/nested/);
  });

  it('counts the fields of each object by itself', () => {
    expect(
      check([
        { a: 1, b: 1, c: 1 },
        { a: 1, b: 1, c: 1 },
      ]),
    ).not.toThrow();
  });

  it('leaves broken JSON to the parser', () => {
    for (const text of ['"open', ']]]}', ':::', '{"a', '"\\'])
      expect(() => assertJsonBounds(text, bounds)).not.toThrow();
  });

  it('takes linear time for strings of backslashes and for large bodies', () => {
    const long = `["${'\\'.repeat(2_000_000)}", "${'\\"'.repeat(1_000_000)}"]`;
    const start = performance.now();
    assertJsonBounds(long);
    expect(() => assertJsonBounds(`[${'{},'.repeat(3_400_000)}{}]`)).toThrow(
      `more than ${bodyBounds.containers} objects`,
    );
    expect(performance.now() - start).toBeLessThan(5_000);
  });
});
