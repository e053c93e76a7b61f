import OpenAI, { APIError } from 'openai';
import { expect } from 'vitest';
import { responseValidators } from './open-responses-schema.js';
import { scriptedModel } from './scripted-services.js';

export type ResponseEvent = OpenAI.Responses.ResponseStreamEvent;
export type Response = OpenAI.Responses.Response;

const validators = responseValidators();

export function newClient(gatewayUrl: string, apiKey = 'none'): OpenAI {
  return new OpenAI({ baseURL: `${gatewayUrl}/v1`, apiKey, maxRetries: 0 });
}

/** Problems of a body by a schema of OpenAI's document; none where the document is absent. */
export function problemsOf(schema: string, body: unknown): string[] {
  return validators?.openai(schema, body) ?? [];
}

/** Fails unless a body is valid by both official documents. */
export function assertValid(response: object): void {
  expect(validators?.response(response) ?? []).toEqual([]);
}

/** Fails unless events are numbered from `first` without gaps, and each is valid by both official documents. */
export function assertValidLog(events: readonly ResponseEvent[], first = 0): void {
  assertNumbered(events, first);
  for (const event of events) expect(validators?.event(event) ?? []).toEqual([]);
}

export function assertNumbered(events: readonly ResponseEvent[], first = 0): void {
  const numbers = events.map(({ sequence_number }) => sequence_number);
  expect(numbers).toEqual(events.map((_event, index) => first + index));
}

export async function collect(stream: AsyncIterable<ResponseEvent>): Promise<ResponseEvent[]> {
  const events: ResponseEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

/** The events of a body, as they came: the client throws at an `error` event. */
export async function collectRaw(answer: globalThis.Response): Promise<ResponseEvent[]> {
  const lines = (await answer.text()).split('\n').filter((line) => line.startsWith('data: {'));
  return lines.map((line) => JSON.parse(line.slice('data: '.length)) as ResponseEvent);
}

export function isDelta({ type }: ResponseEvent): boolean {
  return type === 'response.output_text.delta';
}

/** The deltas, joined. */
export function textOf(events: readonly ResponseEvent[]): string {
  return events.map((event) => (event.type === 'response.output_text.delta' ? event.delta : '')).join('');
}

/** The response that a log ends with. */
export function responseOf(events: readonly ResponseEvent[]): Response {
  const last = events.at(-1);
  if (!last || !('response' in last)) throw new Error(`The log ends with ${last?.type}`);
  return last.response;
}

export interface Failure {
  status?: number;
  code?: string | null;
  param?: string | null;
}

/** What went wrong with a request, as the client sees it. */
export async function failureOf(request: Promise<unknown>): Promise<Failure> {
  const error = await request.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof APIError)) throw new Error(`No API error: ${String(error)}`);
  const { status, code, param } = error;
  return { status: status as number | undefined, code, param };
}

type CreateParams = OpenAI.Responses.ResponseCreateParamsNonStreaming;
type StreamParams = OpenAI.Responses.ResponseCreateParamsStreaming;

/** Short forms of the two ways to ask the scripted model. */
export function askerOf(client: () => OpenAI) {
  return {
    create: (body: Partial<CreateParams>) =>
      client().responses.create({ model: scriptedModel, ...body } as CreateParams),
    stream: (body: Partial<StreamParams>) =>
      client().responses.create({ model: scriptedModel, ...body, stream: true } as StreamParams),
  };
}
