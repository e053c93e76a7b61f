import { describe, expect, it } from 'vitest';
import { FunctionInput } from './function-input.js';

const city = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const two = {
  type: 'object',
  properties: { city: { type: 'string' }, unit: { type: 'string' } },
  required: ['city'],
};
const both = { ...two, required: ['city', 'unit'] };
const days = { type: 'object', properties: { days: { type: ['integer', 'null'] } } };

function read(pieces: readonly string[], parameters: Record<string, unknown>) {
  const input = new FunctionInput({ type: 'function', name: 'f', parameters });
  const streamed = pieces.map((piece) => input.push(piece)).join('');
  return { streamed, whole: streamed + input.end() };
}

describe('FunctionInput', () => {
  it('passes an object on while it is written', () => {
    expect(read([' ', '{"ci', 'ty": "Paris"'], city).streamed).toBe(' {"city": "Paris"');
  });

  it.each<[string, string, Record<string, unknown>, string]>([
    ['a string for the only field', '"Paris"', city, '{"city":"Paris"}'],
    ['a string for the only required field', '"Paris"', two, '{"city":"Paris"}'],
    ['a text that is not JSON', 'Paris', city, '{"city":"Paris"}'],
    ['a number for the only field', '3', days, '{"days":3}'],
    ['an object in a string', String.raw`"{\"city\": \"Paris\"}"`, both, '{"city":"Paris"}'],
    ['no arguments', '', city, '{}'],
    ['null', 'null', city, '{}'],
  ])('repairs %s', (_name, given, parameters, whole) => {
    expect(read(Array.from(given), parameters)).toEqual({ streamed: '', whole });
  });

  it.each<[string, string, Record<string, unknown>]>([
    ['a string for two fields', '"Paris"', both],
    ['a number for a field of text', '3', city],
    ['a list that is cut', '["Par', city],
  ])('leaves %s as it is', (_name, given, parameters) => {
    expect(read([given], parameters).whole).toBe(given);
  });
});
