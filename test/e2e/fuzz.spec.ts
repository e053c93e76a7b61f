import type { OpenApiDocument } from '#platform/service-kit';
import { allServices, startStack, type ServiceName, type TestStack } from '#platform/testing';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hostileDocument, type HostileDocument } from './helpers/fuzz/documents.js';
import { askAllOperations } from './helpers/fuzz/fitting.js';
import { hostileBody } from './helpers/fuzz/hostile-body.js';
import { hostileChat } from './helpers/fuzz/hostile.js';
import { Random } from './helpers/fuzz/random.js';
import { makeRequest, operationsOf, type FuzzRequest, type Operation } from './helpers/fuzz/requests.js';
import { collectable, figuresOf, ProcessWatch } from './helpers/fuzz/watch-processes.js';

/** Over all services; `npm run fuzz` sends 10,000. */
const requests = Number(process.env['FUZZ_REQUESTS'] ?? 300);
const seed = Number(process.env['FUZZ_SEED'] ?? 20_261_121);
/** The whole run goes three times over all services: until its caches are full a process takes more, and then it must not. */
const isWhole = requests >= 10_000;
const passes = isWhole ? [1, 2, 3] : [1];
/** The last pass sends what the one before it sent: a request that needs more room than any before is no leak. */
const seedOf = (pass: number) => seed + Math.min(pass, 2);
const mallocSettings = ['arena_max=2', 'mmap_threshold=131072', 'trim_threshold=131072'];
const concurrency = 8;
const timeout = 3_600_000;
const timeoutMs = 60_000;
/** Documents are read in processes with a limit of time, and embedded. */
const documentTimeoutMs = 180_000;
const hostileDocuments = Math.max(6, Math.ceil(requests / 200));
/** Seconds that an event loop may be held; a machine that does other work in between is slower. */
const longestHold = isWhole ? 1 : 2;

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
/** Answers of a service that is full or waits for another one: they say when to come back. */
function isHonestRefusal({ status, headers }: Response, text: string): boolean {
  return status === 503 && headers.get('retry-after') !== null && text.includes('"service_unavailable"');
}

let stack: TestStack;
let watch: ProcessWatch;
const memory: Map<ServiceName, number>[] = [];
beforeAll(async () => {
  stack = await startStack({
    env: {
      LLM_TOOLS: 'true',
      ...(isWhole && { NODE_OPTIONS: collectable }),
      // Full in the first pass, so that it is not taken for a leak.
      LLM_PREFIX_CACHE_BYTES: String(16 * 1024 * 1024),
      // What is freed goes back to the system, and is not kept for later: only what is held counts.
      GLIBC_TUNABLES: mallocSettings.map((setting) => `glibc.malloc.${setting}`).join(':'),
    },
  });
  watch = new ProcessWatch(stack);
  // What the start took is no matter here.
  await watch.ask();
  watch.longestHolds.clear();
});
afterAll(async () => {
  watch?.stop();
  await stack?.stop();
});

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
  if (operation.path === '/metrics') watch.note(service, figuresOf(text));
  const isJson = answer.headers.get('content-type')?.includes('json') ?? false;
  if (status < 400) {
    const schema = operation.answers[String(status)];
    return isJson && schema ? validates(operation, status, JSON.parse(text)) : undefined;
  }
  if (!isJson) return `${status} without JSON: ${text.slice(0, 200)}`;
  const { error } = JSON.parse(text) as ErrorBody;
  const { code = '', param } = typeof error === 'object' ? error : {};
  if (status >= 500) return isHonestRefusal(answer, text) ? undefined : `${status}: ${text.slice(0, 300)}`;
  if (status === 429 && answer.headers.get('retry-after') === null) return `429 without Retry-After`;
  const named = typeof param === 'string' && param !== '';
  const isAboutBody = text.includes('"The body ');
  return named || isAboutBody || withoutField.has(code) || !request.isObject
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

/** Requests of the service's own document, with things wrong with them. Answers what was wrong with the answers. */
async function fuzzOperations(service: ServiceName, pass: number): Promise<string[]> {
  const { url } = stack.service(service);
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as OpenApiDocument;
  const operations = operationsOf(document);
  const validates = validatorOf(document);
  const random = new Random(seedOf(pass));
  const weight = service === 'gateway' ? 3 : 1;
  const share = Math.ceil((requests * weight) / (allServices.length + 2) / passes.length);
  const queue = Array.from({ length: share }, (_unused, index) =>
    // Every third one is what `npm run test:hostile` sends.
    (index % 3 === 2 ? hostileBody : makeRequest)(
      operations[index % operations.length] ?? operations[0]!,
      document,
      random,
    ),
  );
  const faults = new Set<string>();
  await workThrough(queue, concurrency, async (request) => {
    const { operation, url: path, body } = request;
    const fault = await faultOf(service, request, validates).catch(String);
    if (fault === undefined) return;
    const sent = body ? new TextDecoder().decode(body).slice(0, 300) : '';
    faults.add(`${operation.method} ${path.slice(0, 120)} ${sent}\n   ${fault}`);
  });
  return [...faults];
}

/** Asks the gateway. Answers what was wrong with the answer: everything but an answer, a refusal, and "come back later". */
async function ask(
  path: string,
  init: RequestInit,
  limitMs = timeoutMs,
): Promise<{ fault?: string; status: number }> {
  try {
    const signal = AbortSignal.timeout(limitMs);
    const answer = await fetch(stack.service('gateway').url + path, { method: 'POST', ...init, signal });
    const text = await answer.text();
    const { status } = answer;
    const isAnswer = status < 500 || isHonestRefusal(answer, text);
    return { status, ...(!isAnswer && { fault: `${status} ${text.slice(0, 300)}` }) };
  } catch (error) {
    return { status: 0, fault: String(error) };
  }
}

const json = (body: object): RequestInit => ({
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});
const chat = (body: object) => ask('/v1/chat/completions', json(body));

async function fuzzChats(pass: number): Promise<string[]> {
  const random = new Random(seedOf(pass));
  const chats = Array.from({ length: Math.ceil(requests / 5 / passes.length) }, () => hostileChat(random));
  const faults: string[] = [];
  await workThrough(chats, 2, async (body) => {
    const { fault } = await chat(body);
    if (fault) faults.push(`${JSON.stringify(body).slice(0, 300)}\n   ${fault}`);
  });
  return faults;
}

function ingest({ filename, content }: HostileDocument): [path: string, init: RequestInit] {
  const form = new FormData();
  form.append('files', new Blob([new Uint8Array(content)]), filename);
  return ['/v1/dataprep/ingest', { body: form }];
}

function readInResponse({ filename, content }: HostileDocument): [path: string, init: RequestInit] {
  const data = `data:application/octet-stream;base64,${Buffer.from(content).toString('base64')}`;
  const file = { type: 'input_file', filename, file_data: data };
  const input = [{ role: 'user', content: [file, { type: 'input_text', text: 'What is it?' }] }];
  return ['/v1/responses', json({ model: 'nano-chat', input, max_output_tokens: 3, store: false })];
}

/** Answers what was wrong, and which statuses there were. */
async function fuzzDocuments(pass: number): Promise<{ faults: string[]; statuses: Set<number> }> {
  const random = new Random(seedOf(pass));
  const documents = Array.from({ length: hostileDocuments }, () => hostileDocument(random));
  const faults: string[] = [];
  const statuses = new Set<number>();
  await workThrough(documents, 3, async (document) => {
    const [path, init] = random.pick([ingest, readInResponse])(document);
    const { status, fault } = await ask(path, init, documentTimeoutMs);
    statuses.add(status);
    const { filename, content } = document;
    const begin = Buffer.from(content.subarray(0, 60)).toString();
    if (fault) faults.push(`${path} ${filename} ${begin}\n   ${fault}`);
  });
  return { faults, statuses };
}

async function workThrough<Item>(
  items: Item[],
  width: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const next = async () => {
    for (let item = items.pop(); item !== undefined; item = items.pop()) await work(item);
  };
  await Promise.all(Array.from({ length: width }, next));
}

describe.each(passes)('pass %s', (pass) => {
  it.each(allServices)(
    '%s answers whatever is sent: no 5xx, no crash, each 4xx names its field',
    { timeout },
    async (service) => {
      expect((await fuzzOperations(service, pass)).slice(0, 40).join('\n')).toBe('');
      // Nothing restarts a service here: one that crashed would not answer.
      expect((await fetch(`${stack.service(service).url}/live`)).status).toBe(200);
    },
  );

  it(
    'chats that ask for more than they look like are answered or refused, and hold up no other',
    { timeout },
    async () => {
      expect((await fuzzChats(pass)).join('\n')).toBe('');
      const plain = { model: 'nano-chat', messages: [{ role: 'user', content: 'hi' }], max_tokens: 3 };
      expect(await chat(plain)).toEqual({ status: 200 });
    },
  );

  it(
    'documents that ask for more than they look like are read or refused, and hold up no other',
    { timeout },
    async () => {
      const { faults, statuses } = await fuzzDocuments(pass);
      expect(faults.join('\n')).toBe('');
      expect([...statuses]).toContain(400);
      const plain = { filename: 'plain.txt', content: Buffer.from('MegaNest speaks over NATS.') };
      expect(await ask(...ingest(plain))).toEqual({ status: 200 });
    },
  );

  it.runIf(isWhole)('memory settles', { timeout }, async () => {
    memory.push(await watch.settledMemory());
    expect(memory).toHaveLength(pass);
  });
});

describe('the processes', () => {
  it('held their event loops for no longer than the bound', async () => {
    await watch.ask();
    const holds = Object.fromEntries(watch.longestHolds);
    if (isWhole) console.log('longest holds in seconds', holds);
    expect(Object.entries(holds).filter(([, seconds]) => !(seconds < longestHold))).toEqual([]);
  });

  it.runIf(isWhole)('take the memory that they took after the pass before', () => {
    const [first, last] = [memory.at(-2)!, memory.at(-1)!];
    const grown = allServices.map((service) => {
      const [before, after] = [first.get(service) ?? 0, last.get(service) ?? Infinity];
      return { service, before: megabytes(before), after: megabytes(after), ratio: after / before };
    });
    console.log('resident memory in MiB', grown);
    expect(grown.filter(({ ratio }) => ratio > 1.1)).toEqual([]);
  });
});

describe('a gateway without its services', () => {
  it('answers each operation, and each 503 and 429 says when to come again', { timeout }, async () => {
    const away = allServices.filter((name) => name !== 'gateway');
    await Promise.all(away.map((name) => stack.service(name).kill()));
    const { url } = stack.service('gateway');
    const document = (await (await fetch(`${url}/openapi.json`)).json()) as OpenApiDocument;
    const answers = await askAllOperations(url, { document, random: new Random(seed), times: 2 });
    const isRefusal = ({ status }: { status: number }) => status === 503 || status === 429;
    expect(answers.filter((answer) => isRefusal(answer) && !(Number(answer.retryAfter) >= 1))).toEqual([]);
    expect(answers.filter(({ status }) => status >= 500 && status !== 503)).toEqual([]);
    const refusing = new Set(answers.filter(isRefusal).map(({ operation }) => operation));
    expect(refusing.size).toBeGreaterThan(15);
  });
});

function megabytes(bytes: number): number {
  return Math.round(bytes / 1024 / 1024);
}
