import type { generate, GenerationParameters, OutputConstraint, RequestOf } from '#platform/contracts';
import { words } from '../inference/texts.js';

type GenerateRequest = RequestOf<typeof generate>;

/** How a request of the soak ends early: after a number of messages, or with a deadline in milliseconds. */
interface Leaving {
  readonly after?: number;
  readonly abort?: boolean;
  readonly deadlineMs?: number;
}

/** One request of the soak test, and its expected results. */
export interface SoakRequest {
  readonly kind: string;
  /** Over HTTP as server-sent events instead of over NATS. */
  readonly http?: boolean;
  readonly request: GenerateRequest;
  readonly leaving?: Leaving;
  /** Expected error codes. */
  readonly expected?: readonly string[];
  /** Returns the problem of a whole answer, given the texts of its choices. */
  readonly verify?: (texts: readonly string[]) => string | undefined;
}

const passages = [0, 1, 2].map((seed) => ({
  id: `passage-${seed}`,
  text: `The ${['Amber', 'Basalt', 'Cobalt'][seed]} office gives ${20 + seed} days of vacation. ${words(seed, 30)}.`,
  score: 1,
  metadata: {},
}));

/** More schemas than cached grammars, so that some are compiled again. */
const schemaCount = 48;

function schema(seed: number): OutputConstraint {
  const name = `field${seed % schemaCount}`;
  return {
    type: 'json_schema',
    schema: {
      type: 'object',
      properties: { [name]: { enum: ['a', 'b', seed % schemaCount] }, flag: { type: 'boolean' } },
      required: [name, 'flag'],
      additionalProperties: false,
    },
  };
}

function isJsonWith(field: string): (texts: readonly string[]) => string | undefined {
  return (texts) => {
    for (const text of texts) {
      const value = JSON.parse(text) as Record<string, unknown>;
      if (!(field in value) || typeof value['flag'] !== 'boolean') return `not what the schema asks: ${text}`;
    }
    return undefined;
  };
}

/** Returns the nth request of the mix, which depends only on the number. */
export function soakRequest(index: number): SoakRequest {
  /** Long enough to fill the prefix cache within the first thousand requests. */
  const ask = (parameters: GenerationParameters, length = 60): GenerateRequest => ({
    messages: [{ role: 'user', content: `${index} ${words(index, length + (index % 40))}` }],
    max_tokens: 4 + (index % 12),
    ...parameters,
  });
  const endless: GenerationParameters = { ignore_eos: true, max_tokens: 400, num_assistant_tokens: 0 };
  const kinds: (() => SoakRequest)[] = [
    () => ({ kind: 'plain', request: ask({}) }),
    () => ({ kind: 'plain over HTTP', http: true, request: ask({}) }),
    () => ({
      kind: 'sampled',
      request: ask({ temperature: 1, seed: index, top_p: 0.9, frequency_penalty: 1 }),
    }),
    () => ({ kind: 'log probabilities', request: ask({ logprobs: true, top_logprobs: 3 }) }),
    () => ({ kind: 'stop text', request: ask({ stop: ['e', '.'], max_tokens: 20 }) }),
    () => ({
      kind: 'four answers',
      request: ask({ n: 4, temperature: 1 }),
      verify: (texts) => (texts.length === 4 ? undefined : `${texts.length} answers`),
    }),
    () => ({ kind: 'best of three', request: ask({ best_of: 3, temperature: 1 }) }),
    () => ({
      kind: 'grounded',
      request: {
        messages: [{ role: 'user', content: `How many days does the Basalt office give? ${index % 7}` }],
        documents: passages,
        max_tokens: 40,
      },
    }),
    () => ({
      kind: 'constrained',
      request: ask({ constraint: schema(index), max_tokens: 60 }),
      verify: isJsonWith(`field${index % schemaCount}`),
    }),
    () => ({
      kind: 'constrained to nonsense',
      request: ask({ constraint: { type: 'regex', pattern: '(' } }),
      expected: ['invalid_request'],
    }),
    () => ({
      kind: 'over-long',
      request: { messages: [{ role: 'user', content: words(index, 6000) }] },
      expected: ['context_length_exceeded'],
    }),
    () => ({ kind: 'left over NATS', request: ask(endless), leaving: { after: 1 + (index % 9) } }),
    () => ({
      kind: 'aborted over NATS',
      request: ask(endless),
      leaving: { abort: true },
      expected: ['cancelled'],
    }),
    () => ({
      kind: 'disconnected over HTTP',
      http: true,
      request: ask(endless),
      leaving: { after: 1 + (index % 5) },
    }),
    () => ({
      kind: 'out of time',
      request: ask(endless),
      leaving: { deadlineMs: 5 + (index % 40) },
      expected: ['deadline_exceeded', 'cancelled'],
    }),
  ];
  return kinds[index % kinds.length]!();
}
