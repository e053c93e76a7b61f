import type { Socket } from 'node:net';
import { STATUS_CODES } from 'node:http';
import { MegaNestError } from '#contracts';
import { errorEnvelope } from './error.filter.js';

/** An error of the HTTP parser, before there is a request. */
interface ParserError extends Error {
  code?: string;
  reason?: string;
}

/** Answers what the HTTP parser refuses, as every error is answered, and closes the connection. */
export function answerClientError(error: ParserError, socket: Socket): void {
  // The client left, or an answer is on its way already: nothing can be said.
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy(error);
    return;
  }
  const refused = refusalOf(error);
  const body = JSON.stringify(errorEnvelope(refused));
  const head = [
    `HTTP/1.1 ${refused.status} ${STATUS_CODES[refused.status]}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}

function refusalOf({ code, reason, message }: ParserError): MegaNestError {
  if (code === 'HPE_HEADER_OVERFLOW') return new MegaNestError('headers_too_large', {});
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new MegaNestError('request_timeout', {});
  return new MegaNestError('invalid_request', {
    detail: `The request is not valid HTTP: ${reason ?? message}`,
  });
}
