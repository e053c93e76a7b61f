import type { MegaNestError } from '#contracts';
import { pollAfter } from '#openai-api';
import { eventFrames, type ResponseEvent, type ResponseObject } from '#responses';
import { sendEventStream, setIgnored } from '#service-kit';
import type { FastifyReply } from 'fastify';
import { setReceiptHeaders } from '../../chat/chat-reply.js';
import type { ResponsePlan } from '../context/response-plan.js';
import type { ResponseRun } from '../execution/response-run.js';

/** Says in the head what was ignored and, where that is known by then, where the time went. */
export function setResponseHeaders(reply: FastifyReply, plan: ResponsePlan, run: ResponseRun): void {
  const ignored = [...new Set([...plan.ignored, ...(run.generation?.ignored ?? [])])];
  setIgnored(reply, ignored);
  const receipt = run.generation?.receipt();
  if (receipt) setReceiptHeaders(reply, receipt);
}

export async function sendResponse(reply: FastifyReply, response: ResponseObject): Promise<void> {
  await reply.status(200).headers(pollAfter(response)).send(response);
}

/** Streams a log as server-sent events, ended by `[DONE]`. */
export async function sendResponseStream(
  reply: FastifyReply,
  events: AsyncIterable<ResponseEvent>,
): Promise<void> {
  await sendEventStream(reply, eventFrames(events), brokenFrame);
}

/** The log itself could not be read on: outside its numbers, so that a client can resume behind the last event. */
function brokenFrame({ code, type, message, param }: MegaNestError): string {
  const event = {
    type: 'error',
    code,
    message,
    param,
    error: { type, code, message, param },
    sequence_number: -1,
  };
  return `event: error\ndata: ${JSON.stringify(event)}\n\n`;
}
