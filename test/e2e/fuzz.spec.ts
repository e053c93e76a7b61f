import type { OpenApiDocument } from '#service-kit';
import { allServices, startStack, type ServiceName, type TestStack } from '#testing';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hostileChat } from './helpers/fuzz/hostile.js';
import { Random } from './helpers/fuzz/random.js';
import { makeRequest, operationsOf, type FuzzRequest, type Operation } from './helpers/fuzz/requests.js';

/** Over all services; `npm run fuzz` sends 10,000. */
const requests = Number(process.env['FUZZ_REQUESTS'] ?? 300);
const seed = Number(process.env['FUZZ_SEED'] ?? 20_261_121);
const concurrency = 8;
const timeoutMs = 60_000;

/** What is wrong with these has no field: the body as a whole, its type, a path, a key. */
const withoutField = new Set([
  'invalid_json',
  'unsupported_media_type',
  'payload_too_large',
  'not_found',
  'method_not_allowed',
  'rate_limit_exceeded',
  'overloaded',
]);
const honest = new Set(['service_unavailable', 'overloaded']);

let stack: TestStack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack?.stop());

interface ErrorBody {
  error?: { message?: unknown; code?: string; param?: string | null } | string;
}

/** What is wrong with the answer to a request; undefined where nothing is. */
async function faultOf(service: ServiceName, request: FuzzRequest, validates: Validate) {
  const { operation, url, headers, body } = request;
  const answer = await fetch(stack.service(service).url + url, {
    method: operation.method,
    headers,
    body,
    signal: AbortSignal.timeout(timeoutMs),
  });
  const text = await answer.text();
  const { status } = answer;
  const isJson = answer.headers.get('content-type')?.includes('json') ?? false;
  if (status < 400) {
    const schema = operation.answers[String(status)];
    return isJson && schema ? validates(operation, status, JSON.parse(text)) : undefined;
  }
  if (!isJson) return `${status} without JSON: ${text.slice(0, 200)}`;
  const { error } = JSON.parse(text) as ErrorBody;
  const { code = '', param } = typeof error === 'object' ? error : {};
  if (status >= 500)
    return status === 503 && honest.has(code) ? undefined : `${status}: ${text.slice(0, 300)}`;
  const named = typeof param === 'string' && param !== '';
  return named || withoutField.has(code) || !request.isObject
    ? undefined
    : `${status} without param: ${text.slice(0, 300)}`;
}

type Validate = (operation: Operation, status: number, body: unknown) => string | undefined;

/** Holds answers against the document that promises them. */
function validatorOf(document: OpenApiDocument): Validate {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema({ $id: 'document', components: document.components });
  return ({ method, path, answers }, status, body) => {
    const schema = answers[status];
    const local = JSON.parse(JSON.stringify(schema ?? {}).replaceAll('"#/', '"document#/')) as object;
    const validate = ajv.compile(local);
    return validate(body)
      ? undefined
      : `the answer of ${method} ${path} is not as documented: ${ajv.errorsText(validate.errors)}`;
  };
}

describe.each(allServices)('%s', (service) => {
  it(
    'answers whatever is sent: no 5xx, no crash, each 4xx names its field',
    { timeout: 3_600_000 },
    async () => {
      const { url } = stack.service(service);
      const document = (await (await fetch(`${url}/openapi.json`)).json()) as OpenApiDocument;
      const operations = operationsOf(document);
      const validates = validatorOf(document);
      const random = new Random(seed);
      const share = Math.ceil((requests * (service === 'gateway' ? 3 : 1)) / (allServices.length + 2));
      const queue = Array.from({ length: share }, (_unused, index) =>
        makeRequest(operations[index % operations.length] ?? operations[0]!, document, random),
      );
      const faults: string[] = [];
      const work = async () => {
        for (let request = queue.pop(); request; request = queue.pop()) {
          const { operation, url: path, body } = request;
          const fault = await faultOf(service, request, validates).catch((error: unknown) => String(error));
          if (fault === undefined) continue;
          const sent = body ? new TextDecoder().decode(body).slice(0, 300) : '';
          faults.push(`${operation.method} ${path.slice(0, 120)} ${sent}\n   ${fault}`);
        }
      };
      await Promise.all(Array.from({ length: concurrency }, work));
      expect([...new Set(faults)].slice(0, 40).join('\n')).toBe('');
      // Nothing restarts a service here: one that crashed would not answer.
      expect((await fetch(`${url}/live`)).status).toBe(200);
    },
  );
});

describe('chats that ask for more than they look like', () => {
  it('are answered or refused, and hold up no other', { timeout: 3_600_000 }, async () => {
    const { url } = stack.service('gateway');
    const random = new Random(seed);
    const queue = Array.from({ length: Math.ceil(requests / 5) }, () => hostileChat(random));
    const faults: string[] = [];
    const ask = async (body: object) => {
      const answer = await fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(timeoutMs),
      });
      return { status: answer.status, text: await answer.text() };
    };
    const work = async () => {
      for (let body = queue.pop(); body; body = queue.pop()) {
        const { status, text } = await ask(body).catch((error: unknown) => ({
          status: 0,
          text: String(error),
        }));
        if (status !== 200 && (status < 400 || status >= 500))
          faults.push(`${JSON.stringify(body).slice(0, 300)}\n   ${status} ${text.slice(0, 300)}`);
      }
    };
    await Promise.all([work(), work()]);
    expect(faults.join('\n')).toBe('');
    const plain = { model: 'nano-chat', messages: [{ role: 'user', content: 'hi' }], max_tokens: 3 };
    expect(await ask(plain)).toMatchObject({ status: 200 });
  });
});
