import { MegaNestError, parseOrThrow } from '#contracts';
import { createResponseSchema, type ResponseRequest } from '#responses';
import { parseJsonBody } from '#service-kit';
import { z } from 'zod';

/** A client's message as far as it has to be understood before its turn comes. */
export interface SocketMessage {
  /** The lane of the turn; lanes run beside each other, turns of one lane in order. */
  streamId?: string;
  /** What the turn continues, whether or not it is a valid request. */
  previousResponseId?: string;
  /** What it asks for, unchecked. */
  body: Record<string, unknown>;
}

/** What a client asks for in one message. */
export interface SocketTurn {
  request: ResponseRequest;
  /** `generate: false`: the context is prepared and kept, nothing is written. */
  warmUp: boolean;
}

const messageSchema = z.looseObject({
  type: z.literal('response.create', 'must be response.create'),
  stream_id: z
    .string()
    .regex(/^[\w.-]{1,256}$/, 'must be 1 to 256 letters, digits, dots, dashes')
    .nullish(),
});

/** Errors: invalid_json; invalid_request where it is no `response.create`. */
export function readSocketMessage(text: string): SocketMessage {
  const { type: _type, stream_id, ...body } = parseOrThrow(messageSchema, parseJsonBody(text));
  const previous = body['previous_response_id'];
  return {
    body,
    streamId: stream_id ?? undefined,
    previousResponseId: typeof previous === 'string' ? previous : undefined,
  };
}

const turnSchema = z.looseObject({ generate: z.boolean().nullish(), background: z.boolean().nullish() });

/**
 * The request in a message: the fields of `POST /v1/responses`, and `generate`. `stream` says nothing here, for a socket
 * always streams. Errors: 400 with the field's path; unsupported_parameter for `background`.
 */
export function parseSocketTurn(message: SocketMessage): SocketTurn {
  const { generate, background, stream: _stream, ...body } = parseOrThrow(turnSchema, message.body);
  if (background === true) {
    const detail = 'background: a response of a WebSocket ends with its turn; use POST /v1/responses';
    throw new MegaNestError('unsupported_parameter', { detail, param: 'background' });
  }
  const request = { ...parseOrThrow(createResponseSchema, body), stream: true };
  return { request, warmUp: generate === false };
}
