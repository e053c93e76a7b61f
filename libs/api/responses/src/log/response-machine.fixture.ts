import {
  MegaNestError,
  type GenerationChunk,
  type RetrievedDocument,
  type TokenLogprob,
} from '#platform/contracts';
import * as fc from 'fast-check';
import { fileSearchSteps } from './call-writer.js';
import { createResponseSchema } from '../request/create-response.js';
import { newResponse, type ResponseObject } from '../response-object.js';
import type { ResponseEvent } from './events.js';
import type { MachineStep } from './event-log.js';
import { ResponseMachine } from './response-machine.js';

const tools = [
  { type: 'function', name: 'add', parameters: { type: 'object' } },
  { type: 'custom', name: 'patch' },
  { type: 'namespace', name: 'files', description: '', tools: [{ type: 'function', name: 'read' }] },
];

export function initialResponse(status: 'queued' | 'in_progress' = 'in_progress'): ResponseObject {
  const { settings } = createResponseSchema.parse({ input: 'Hello', tools });
  return newResponse({ id: 'resp_1', createdAt: 7, model: 'nano-chat', settings, status });
}

export const documents: RetrievedDocument[] = ['a', 'b'].map((id) => ({
  id,
  text: `passage ${id}`,
  score: 1,
  metadata: { document_id: `document-${id}`, filename: `${id}.md`, chunk_index: 3, nested: { no: 1 } },
}));

const tokenLogprob = fc.record({
  token: fc.string(),
  logprob: fc.double({ max: 0, noNaN: true, noDefaultInfinity: true }),
  bytes: fc.option(fc.array(fc.nat({ max: 255 }))),
  top_logprobs: fc.constant<TokenLogprob['top_logprobs']>([]),
});
const citation = fc.record({
  startIndex: fc.constant(0),
  endIndex: fc.nat(),
  passage: fc.constant(1),
  documentId: fc.constantFrom('a', 'b', 'unknown'),
  quote: fc.string(),
});
/** Pieces with a name always, so that any of them may begin a call. */
const callPiece = fc.record({
  index: fc.nat({ max: 3 }),
  id: fc.constant('call_1'),
  name: fc.constantFrom('add', 'patch', 'files__read'),
  input: fc.string(),
});
const chunk: fc.Arbitrary<GenerationChunk> = fc.record(
  {
    choice: fc.constant(0),
    text: fc.string(),
    logprobs: fc.array(tokenLogprob, { maxLength: 2 }),
    citations: fc.array(citation, { maxLength: 3 }),
    reasoning: fc.string(),
    toolCalls: fc.array(callPiece, { maxLength: 3 }),
    refusal: fc.boolean(),
    finishReason: fc.constantFrom('stop' as const, 'length' as const),
    usage: fc.record({ promptTokens: fc.nat(), completionTokens: fc.nat(), cachedTokens: fc.nat() }),
  },
  { requiredKeys: ['choice', 'text'] },
);
const step: fc.Arbitrary<MachineStep | { type: 'search' }> = fc.oneof(
  { weight: 6, arbitrary: chunk.map((item) => ({ type: 'chunk' as const, chunk: item })) },
  fc.constant({ type: 'turn_end' as const }),
  fc.constant({ type: 'search' as const }),
);
export const run = fc.record({
  steps: fc.array(step),
  ending: fc.constantFrom('end' as const, 'fail' as const, 'cancel' as const),
  queued: fc.boolean(),
  keepAliveAfter: fc.nat({ max: 5 }),
});
export type Run = typeof run extends fc.Arbitrary<infer Value> ? Value : never;

export const search = () => fileSearchSteps({ queries: ['why?'], documents, includeResults: true });
export const say = (machine: ResponseMachine, given: Partial<GenerationChunk>) =>
  machine.take({ type: 'chunk', chunk: { choice: 0, text: '', ...given } });

export interface Logged {
  log: ResponseEvent[];
  machine: ResponseMachine;
}

export function logOf({ steps, ending, queued, keepAliveAfter }: Run): Logged {
  const machine = new ResponseMachine(initialResponse(queued ? 'queued' : 'in_progress'), 0, () => 9);
  const log = [...machine.create(), ...machine.progress()];
  for (const [index, item] of steps.entries()) {
    const taken = item.type === 'search' ? search() : [item];
    log.push(...taken.flatMap((each) => machine.take(each)));
    if (index === keepAliveAfter) log.push(...machine.progress());
  }
  log.push(...(ending === 'fail' ? machine.fail(new MegaNestError('deadline_exceeded')) : machine[ending]()));
  return { log, machine };
}
