import { encodeVectors, parseOrThrow } from '#platform/contracts';
import type OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { embeddingRequestSchema, embeddingResponse } from './embeddings.js';

const parse = (body: unknown) => parseOrThrow(embeddingRequestSchema, body);

describe('embeddingRequestSchema', () => {
  it.each([
    ['text', ['text']],
    [
      ['a', 'b'],
      ['a', 'b'],
    ],
    [[1, 2], [[1, 2]]],
    [
      [[1], [2]],
      [[1], [2]],
    ],
  ])('makes a list of %j', (input, inputs) => {
    expect(parse({ input }).inputs).toEqual(inputs);
  });

  it.each(['', [], [''], [[]], 5, [1.5], undefined])('refuses %j and names the field', (input) => {
    expect(() => parse({ input })).toThrow(
      expect.objectContaining({ status: 400, param: expect.stringMatching(/^input/) }),
    );
  });
});

it('takes null as unset', () => {
  const unset = { model: null, encoding_format: null, dimensions: null, user: null, text: null };
  expect(parse({ input: 'a', ...unset })).toEqual(parse({ input: 'a' }));
  expect(() => parse({ input: null })).toThrow(expect.objectContaining({ status: 400, param: 'input' }));
});

it('says how many inputs a request may have', () => {
  expect(parse({ input: Array.from({ length: 2048 }, () => 'a') }).inputs).toHaveLength(2048);
  expect(() => parse({ input: Array.from({ length: 2049 }, () => 'a') })).toThrow(
    expect.objectContaining({ param: 'input', message: expect.stringContaining('at most 2048') }),
  );
});

it.each([
  ['input', 'a'.repeat(1_200_001), /1200001 characters .* limit of a request is 1200000/],
  [
    'input',
    Array.from({ length: 400 }, () => Array.from({ length: 4_000 }, () => 1)),
    /1600000 tokens .* 300000/,
  ],
  ['text', 'a'.repeat(1_200_001), /characters/],
])('refuses %s that is too long as a whole', (field, input, message) => {
  expect(() => parse({ [field]: input })).toThrow(
    expect.objectContaining({ status: 400, param: field, message: expect.stringMatching(message) }),
  );
});

describe('embeddingResponse', () => {
  const reply = {
    model: 'nano',
    dimensions: 2,
    promptTokens: 3,
    vectors: encodeVectors([Float32Array.of(1, 0), Float32Array.of(0, -1)]),
  };

  it('answers with numbers', () => {
    expect(embeddingResponse(reply, 'float').data.map(({ embedding }) => embedding)).toEqual([
      [1, 0],
      [0, -1],
    ]);
  });

  it('answers with base64 of little-endian Float32', () => {
    const encoded = embeddingResponse(reply, 'base64').data[1]?.embedding as string;
    expect(Buffer.from(encoded, 'base64').readFloatLE(4)).toBe(-1);
  });

  it("fits the official client's type", () => {
    const response = embeddingResponse(reply, 'float');
    const fits: Omit<OpenAI.CreateEmbeddingResponse, 'data'> = response;
    expect(fits.usage).toEqual({ prompt_tokens: 3, total_tokens: 3 });
  });
});
