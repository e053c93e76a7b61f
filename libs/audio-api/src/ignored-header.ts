import type { FastifyReply } from 'fastify';

/** Names the fields that had no effect, so that nothing is dropped in silence. */
export function setIgnored(reply: FastifyReply, fields: readonly string[]): void {
  if (fields.length > 0) void reply.header('x-meganest-ignored', [...new Set(fields)].join(', '));
}
