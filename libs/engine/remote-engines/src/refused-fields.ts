import type { MegaNestError } from '#platform/contracts';

/** The body of a chat completion request. */
export type RequestFields = Record<string, unknown>;

/** A request as the engine takes it, and the caller's fields that it does not have. */
export interface AcceptedRequest {
  body: RequestFields;
  ignored: string[];
}

/** Fields that an answer can do without. Others change its meaning: their refusal is the caller's error. */
const dispensable: readonly string[] = [
  'temperature',
  'top_p',
  'top_k',
  'min_p',
  'presence_penalty',
  'frequency_penalty',
  'repetition_penalty',
  'seed',
  'ignore_eos',
  'num_assistant_tokens',
  'max_ngram_size',
  'stream_options',
  'chat_template_kwargs',
  'reasoning_effort',
  'verbosity',
  'service_tier',
  'user',
  'safety_identifier',
  'prompt_cache_key',
];

/** Fields of our own, without an effect on the answer. */
const internal: ReadonlySet<string> = new Set(['stream_options']);

/** Sampling that OpenAI's reasoning models refuse, with the only value that they take. */
const sampling: Readonly<Record<string, number>> = {
  temperature: 1,
  top_p: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
};

/** Messages about a field, or a value of it, that a model does not have; others are about a wrong value. */
const unsupported =
  /unsupported|not supported|(?:does|do)(?: not|n't) support|unrecognized|unknown|unexpected|not (?:permitted|allowed|accepted)|extra[_ ](?:forbidden|inputs|fields)|only the default|deprecated|no longer|incompatible/i;

/** Efforts to try for a refused one: the least that an engine has, or the most. */
const nearestEfforts: Readonly<Record<string, readonly string[]>> = {
  none: ['minimal', 'low'],
  minimal: ['none', 'low'],
  max: ['xhigh', 'high'],
  xhigh: ['high'],
};

/**
 * The fields that an engine refused: later requests leave them out, or have another name or value for them. OpenAI's
 * reasoning models refuse `max_tokens` and a temperature, proxies refuse fields that they do not know.
 */
export class RefusedFields {
  readonly #refused = new Set<string>();
  readonly #efforts = new Map<string, string>();
  #limit: 'max_tokens' | 'max_completion_tokens' | undefined;
  /** The model takes only the defaults of the sampling. */
  #fixesSampling = false;

  /** The request without refused fields. */
  adapt(given: RequestFields): AcceptedRequest {
    const body = { ...given };
    const limit = body['max_tokens'] ?? body['max_completion_tokens'];
    if (this.#limit && limit !== undefined) {
      delete body['max_tokens'];
      delete body['max_completion_tokens'];
      body[this.#limit] = limit;
    }
    const effort = this.#efforts.get(String(body['reasoning_effort']));
    if (effort !== undefined) body['reasoning_effort'] = effort;
    const dropped = Object.keys(body).filter(
      (name) =>
        this.#refused.has(name) || (this.#fixesSampling && name in sampling && body[name] !== sampling[name]),
    );
    for (const name of dropped) delete body[name];
    return { body, ignored: dropped.filter((name) => !internal.has(name)) };
  }

  /** Learns from a refusal of this request. Returns whether the request differs now. */
  learn({ code, param, message }: MegaNestError, body: RequestFields): boolean {
    if (code !== 'invalid_request') return false;
    const named = (name: string) =>
      body[name] !== undefined &&
      (param?.split('.').at(-1) === name || new RegExp(String.raw`\b${name}\b`).test(message));
    if (this.#learnLimit(named, message)) return true;
    if (!unsupported.test(message)) return false;
    const field = dispensable.find(named);
    if (field === undefined) return false;
    if (field === 'reasoning_effort') this.#learnEffort(String(body[field]), message);
    else this.#refused.add(field);
    return true;
  }

  #learnLimit(named: (name: string) => boolean, message: string): boolean {
    const refused = named('max_tokens') ? 'max_tokens' : 'max_completion_tokens';
    const other = refused === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens';
    const isLimit = named(refused) && (unsupported.test(message) || message.includes(other));
    if (!isLimit || this.#limit === other) return false;
    this.#limit = other;
    // The models that want the newer name are the reasoning models of OpenAI.
    if (other === 'max_completion_tokens') this.#fixesSampling = true;
    return true;
  }

  #learnEffort(effort: string, message: string): void {
    const others = nearestEfforts[effort] ?? [];
    const isAboutValue = message.replaceAll('reasoning_effort', '').includes(effort);
    const listed = others.find((name) => new RegExp(String.raw`['"\x60]${name}['"\x60]`).test(message));
    const next = isAboutValue ? (listed ?? others.at(-1)) : undefined;
    if (next === undefined) this.#refused.add('reasoning_effort');
    else this.#efforts.set(effort, next);
  }
}
