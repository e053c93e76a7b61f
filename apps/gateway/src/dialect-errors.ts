import type { MegaNestError } from '#platform/contracts';
import type { FastifyReply } from 'fastify';
import { anthropicError } from './anthropic/anthropic-errors.js';

/** The error body in the form of a request's dialect; undefined for OpenAI's form. */
export function dialectError(error: MegaNestError, reply: FastifyReply): object | undefined {
  const { id, url, headers } = reply.request;
  const path = url.split('?')[0] ?? '';
  if (/^\/v1\/messages(\/|$)/.test(path) || headers['anthropic-version'] !== undefined) {
    void reply.header('request-id', id);
    return anthropicError(error, id);
  }
  // Ollama's clients read the text of the error.
  if (path.startsWith('/api/')) return { error: error.message };
  return undefined;
}
