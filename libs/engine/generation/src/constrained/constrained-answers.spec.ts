import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { randomNumbers } from '../../../onnx-compiler/src/checkpoint/checkpoint.fixture.js';
import { RandomWriter } from './random-writer.fixture.js';
import { schemaCorpus } from './schema-corpus.fixture.js';

let writer: RandomWriter;
beforeAll(async () => {
  writer = await RandomWriter.open();
});
afterAll(() => writer?.close());

// Seconds of work where nothing else runs; more where much does.
describe('answers of a random-weight model', { timeout: 120_000 }, () => {
  it('satisfy the schema of the constraint, over a corpus of over 200', async () => {
    const noise = randomNumbers(7);
    const corpus = schemaCorpus(() => (noise() + 1) / 2, 110);
    expect(corpus.length).toBeGreaterThanOrEqual(200);
    const ajv = new Ajv2020({ strict: false, allErrors: true, multipleOfPrecision: 9 });
    formats.default(ajv);
    const written = await Promise.all(
      corpus.map(async (schema, index) => ({
        schema,
        answers: await writer.write({
          constraint: { type: 'json_schema', schema: schema as Record<string, unknown> },
          max_tokens: 300,
          // Greedy ones jumpForward over what is forced and check that their passes are clear.
          ...(index % 3 === 0 ? { temperature: 0 } : { seed: index }),
        }),
      })),
    );
    const failures: string[] = [];
    const unfinished: string[] = [];
    for (const { schema, answers } of written) {
      const validate = ajv.compile(schema as object | boolean);
      for (const { text, whole } of answers) {
        if (!whole) unfinished.push(`${JSON.stringify(schema)} ${text.slice(0, 200)}`);
        else if (!isJson(text) || !validate(JSON.parse(text))) {
          failures.push(`${JSON.stringify(schema)} ${text} ${ajv.errorsText(validate.errors)}`);
        }
      }
    }
    expect(failures).toEqual([]);
    expect(unfinished.length).toBeLessThan(corpus.length / 20);
  });

  it('match the regular expression of the constraint', async () => {
    const patterns = [
      '[a-z]{3,5}',
      '^\\d+\\.\\d{2}$',
      '(foo|bar)(baz)?',
      '[^,]{2,4},\\s?\\w',
      'é+[à-ü]{1,3}',
      '.{3}',
      ' leading',
      '[\\u4e00-\\u9fa5]{2}',
      '\\p{Lu}{2}',
      '(a|b){40,60}',
      '[😀-😎]{1,2}',
      '\\S{1,6}',
      '[\\u0300-\\uabcd]{1,3}',
      '[\\ue123-\\u{1f600}]{2}',
      '\\n|\\t|x',
    ];
    for (const pattern of patterns) {
      const constraint = { type: 'regex' as const, pattern };
      const answers = await writer.write({ constraint, n: 4, seed: 3, max_tokens: 200 });
      const whole = answers.filter((answer) => answer.whole).map(({ text }) => text);
      const expression = new RegExp(`^(?:${pattern})$`, 'u');
      expect({ pattern, wrong: whole.filter((text) => !expression.test(text)) }).toEqual({
        pattern,
        wrong: [],
      });
      expect(whole.length).toBeGreaterThan(0);
    }
  });

  it('are one of the choices, and every choice can be written', async () => {
    const choices = ['yes', 'no', ' spaced', 'größer', '日本', 'yesterday', 'quo"te'];
    const answers = await writer.write({
      constraint: { type: 'choice', choices },
      n: 16,
      seed: 5,
      temperature: 2,
    });
    for (const { text, whole } of answers) {
      expect(whole).toBe(true);
      expect(choices).toContain(text);
    }
    expect(new Set(answers.map(({ text }) => text)).size).toBeGreaterThan(2);
    for (const choice of choices) {
      const [only] = await writer.write({ constraint: { type: 'choice', choices: [choice] } });
      expect(only).toMatchObject({ text: choice, whole: true });
    }
  });

  it('keep to a grammar that no expression can describe', async () => {
    const grammar = `
      root ::= sum          # balanced brackets around numbers
      sum ::= term ("+" term){0,2}
      term ::= [1-9] [0-9]? | "(" sum ")"`;
    for (const { text, whole } of await writer.write({
      constraint: { type: 'grammar', grammar },
      n: 8,
      seed: 2,
    })) {
      if (!whole) continue;
      expect(text).toMatch(/^[\d+()]+$/);
      let depth = 0;
      for (const letter of text) {
        depth += letter === '(' ? 1 : letter === ')' ? -1 : 0;
        expect(depth).toBeGreaterThanOrEqual(0);
      }
      expect(depth).toBe(0);
    }
  });

  it('hold every structural tag to its schema, and the tags to what is required of them', async () => {
    const call = (name: string, schema: Record<string, unknown>) => ({
      begin: `<call name="${name}">`,
      end: '</call>',
      schema: {
        type: 'object',
        properties: schema,
        required: Object.keys(schema),
        additionalProperties: false,
      },
    });
    const tags = [
      call('add', { a: { type: 'integer', maximum: 99 } }),
      call('größe', { unit: { enum: ['m', 'km'] } }),
    ];
    const constraint = { type: 'structural_tag' as const, triggers: ['<call'], tags };
    const body = /<call name="(?:add">\{[^}]*"a"[^}]*\}|größe">\{[^}]*"unit"[^}]*\})<\/call>/g;
    const required = await writer.write({ constraint: { ...constraint, required: true }, n: 6, seed: 4 });
    for (const { text, whole } of required.filter((answer) => answer.whole)) {
      expect(whole).toBe(true);
      expect(text.replaceAll(body, '').trim()).toBe('');
      expect(text).toMatch(/^<call name=/);
    }
    const single = await writer.write({
      constraint: { ...constraint, required: true, single: true },
      n: 6,
      seed: 4,
    });
    for (const { text, whole } of single) {
      expect(whole).toBe(true);
      expect(text.match(body)).toHaveLength(1);
    }
    const free = await writer.write({
      constraint,
      n: 16,
      seed: 9,
      max_tokens: 400,
      temperature: 2,
      logit_bias: Object.fromEntries(Array.from('<cal', (letter) => [String(writer.idOf(letter)), 60])),
    });
    expect(free.some(({ text }) => text.includes('<call'))).toBe(true);
    // Where the length cut a tag, its trigger is left.
    const begun = (text: string) => text.replaceAll(body, '').split('<call').length - 1;
    expect(free.filter(({ text, whole }) => begun(text) > (whole ? 0 : 1))).toEqual([]);
  });

  it('write parameters in tags, in the order of the schema', async () => {
    const parameters = {
      type: 'object',
      properties: {
        kind: { type: 'string', enum: ['a', 'b'] },
        note: { type: 'string' },
        count: { type: 'integer', minimum: 0, maximum: 99 },
      },
      required: ['kind', 'count'],
    };
    const tag = { begin: '<f>', end: '</f>', parameters };
    const constraint = { type: 'structural_tag' as const, triggers: ['<f>'], tags: [tag], required: true };
    const written = await writer.write({ constraint: { ...constraint, single: true }, n: 6, seed: 3 });
    const whole = written.filter((answer) => answer.whole);
    expect(whole.length).toBeGreaterThan(0);
    const parameter = (name: string, value: string) => `<parameter=${name}>\\n${value}\\n</parameter>\\n`;
    const note = String.raw`(?:(?!</parameter>)[^])*`;
    const form = `${parameter('kind', '[ab]')}(?:${parameter('note', note)})?${parameter('count', '\\d{1,2}')}`;
    for (const { text } of whole) expect(text).toMatch(new RegExp(`^<f>${form}</f>$`));
  });

  it('are cut by length, and say so', async () => {
    const constraint = { type: 'json_schema' as const, schema: { type: 'string', minLength: 50 } };
    const [answer] = await writer.write({ constraint, max_tokens: 10 });
    expect(answer!.events.at(-1)).toMatchObject({ finishReason: 'length' });
    expect(answer!.tokens).toBe(10);
  });

  it('end where the grammar ends, with ignore_eos too, and on a stop string', async () => {
    const constraint = { type: 'regex' as const, pattern: '[xy]{1,5}z' };
    for (const parameters of [{ ignore_eos: true }, {}]) {
      const [answer] = await writer.write({ constraint, seed: 3, ...parameters });
      expect(answer).toMatchObject({ whole: true });
      expect(answer!.text).toMatch(/^[xy]{1,5}z$/);
    }
    const choice = { type: 'choice' as const, choices: ['begin middle end'] };
    const [cut] = await writer.write({ constraint: choice, stop: 'middle' });
    expect(cut).toMatchObject({ text: 'begin ', whole: true });
    const [kept] = await writer.write({
      constraint: choice,
      stop: 'middle',
      include_stop_str_in_output: true,
    });
    expect(kept).toMatchObject({ text: 'begin middle', whole: true });
  });

  it('take what is forced without a pass for each token, and the same text with one', async () => {
    const constraint = { type: 'choice' as const, choices: ['0123456789 QQQQ'] };
    const [jumped] = await writer.write({ constraint, temperature: 0 });
    const [stepped] = await writer.write({ constraint, temperature: 0, logprobs: true });
    expect(jumped!.text).toBe(stepped!.text);
    expect(jumped!.passes).toBeLessThan(stepped!.passes);
    expect(stepped!.events.flatMap(({ logprobs }) => logprobs ?? [])).toHaveLength(stepped!.tokens);
  });

  it('are the same for the same seed, alone and in a batch, and with a bias against them', async () => {
    const constraint = {
      type: 'json_schema' as const,
      schema: { type: 'array', items: { type: 'integer' }, maxItems: 4 },
    };
    const [alone] = await writer.write({ constraint, seed: 11 });
    const together = await Promise.all([11, 12, 13, 14].map((seed) => writer.write({ constraint, seed })));
    expect(together[0]![0]!.text).toBe(alone!.text);
    const against = { [writer.idOf('[')]: -100, [writer.idOf('a')]: 100 };
    const [biased] = await writer.write({ constraint, seed: 11, logit_bias: against });
    expect(biased!.text).toMatch(/^\[/);
  });

  it('come back by their likelihood with best_of', async () => {
    const parameters = { seed: 3, max_tokens: 6, temperature: 2, logprobs: true, logit_bias: {} };
    const all = await writer.write({ ...parameters, n: 6 });
    const mean = ({ events }: (typeof all)[number]) => {
      const values = events.flatMap(({ logprobs }) => logprobs ?? []).map(({ logprob }) => logprob);
      return values.reduce((sum, value) => sum + value, 0) / values.length;
    };
    const best = await writer.write({ ...parameters, n: 2, best_of: 6 });
    const ranked = all.toSorted((a, b) => mean(b) - mean(a)).map(({ text }) => text);
    expect(best.map(({ text }) => text)).toEqual(ranked.slice(0, 2));
  });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
