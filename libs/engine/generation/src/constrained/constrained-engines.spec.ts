import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OutputConstraint } from '#platform/contracts';
import { RandomWriter } from './random-writer.fixture.js';

let compiled: RandomWriter;
let exported: RandomWriter;
beforeAll(async () => {
  compiled = await RandomWriter.open();
  exported = await RandomWriter.open('exporter');
});
afterAll(async () => {
  await compiled?.close();
  await exported?.close();
});

const constraints: OutputConstraint[] = [
  {
    type: 'json_schema',
    schema: {
      type: 'object',
      properties: {
        name: { type: 'string', maxLength: 8 },
        sizes: { type: 'array', items: { type: 'integer' }, maxItems: 3 },
      },
      required: ['name', 'sizes'],
      additionalProperties: false,
    },
  },
  { type: 'regex', pattern: '[ab]{40}' },
  { type: 'regex', pattern: '([a-c]{3}, ){4,9}end' },
  { type: 'choice', choices: ['the the the the', 'name name id', 'größer'] },
];

function fits(constraint: OutputConstraint, text: string): boolean {
  if (constraint.type === 'regex') return new RegExp(`^(?:${constraint.pattern})$`).test(text);
  if (constraint.type === 'choice') return constraint.choices.includes(text);
  const { name, sizes, ...rest } = JSON.parse(text) as { name: string; sizes: number[] };
  return name.length <= 8 && sizes.every(Number.isInteger) && Object.keys(rest).length === 0;
}

// Seconds of work where nothing else runs; more where much does.
describe('constraints', { timeout: 120_000 }, () => {
  it('hold the graph of an exporter as they hold the compiled one, token for token', async () => {
    for (const constraint of constraints) {
      const [expected] = await compiled.write({ constraint, temperature: 0 });
      const [answer] = await exported.write({ constraint, temperature: 0 });
      expect(answer).toMatchObject({ text: expected!.text, whole: true, tokens: expected!.tokens });
      for (const { text, whole } of await exported.write({ constraint, n: 4, seed: 7 })) {
        expect({ whole, fits: whole && fits(constraint, text) }).toEqual({ whole: true, fits: true });
      }
    }
  });

  it('hold answers that are guessed ahead, which say the same in fewer passes', async () => {
    let [plainPasses, guessedPasses] = [0, 0];
    for (const constraint of constraints) {
      const [plain] = await compiled.write({ constraint, temperature: 0 });
      const [guessed] = await compiled.write({ constraint, temperature: 0, num_assistant_tokens: 7 });
      expect(guessed).toMatchObject({ text: plain!.text, whole: true, tokens: plain!.tokens });
      expect(fits(constraint, guessed!.text)).toBe(true);
      plainPasses += plain!.passes;
      guessedPasses += guessed!.passes;
      const sampled = await compiled.write({ constraint, n: 4, temperature: 1, num_assistant_tokens: 7 });
      for (const { text, whole } of sampled) expect(whole && fits(constraint, text)).toBe(true);
    }
    expect(guessedPasses).toBeLessThan(plainPasses);
  });
});
