import { describe, expect, it } from 'vitest';
import { readJson, readJsonLines } from '../read-json.js';

const texts = (source: string) => readJson(source).blocks.map(({ text }) => text);

describe('numbers of JSON', () => {
  it.each([
    '4111111111111111111',
    '1e400',
    '1.10',
    '-0',
    '1E5',
    '0.1',
    '12345678901234567.5',
    '-7',
    '1e-7',
    '100',
    '2.0',
  ])('%s stays as it is written', (number) => {
    expect(texts(`{"a": ${number}, "b": [${number}]}`)).toEqual([`a: ${number}`, `b: ${number}`]);
  });

  it('within texts stay texts', () => {
    expect(texts('{"a 1.10": "x \\" 1.10, \\\\", "b": 1.10}')).toEqual(['a 1.10: x " 1.10, \\', 'b: 1.10']);
  });

  it('are different ids', () => {
    const { blocks } = readJsonLines('{"id": 9007199254740993}\n{"id": 9007199254740995}');
    expect(blocks.map(({ text }) => text)).toEqual(['id: 9007199254740993', 'id: 9007199254740995']);
  });

  it('that are not valid are refused', () => {
    expect(() => readJson('{"a": 01.10}')).toThrow(SyntaxError);
  });
});
