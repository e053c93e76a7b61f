import type { FastifyReply } from 'fastify';

/** The header that names the fields of a request that had no effect. */
export const ignoredHeaderName = 'x-meganest-ignored';
/** The header that names the steps that an answer had to do without. */
const degradedHeaderName = 'x-meganest-degraded';

/** Characters of the header, and of one name in it. */
const longestHeader = 1024;
const longestName = 128;

/** The value of the header: each name once. Characters that no header can hold become `?`; long lists are cut. */
export function ignoredHeader(fields: readonly string[]): string {
  const names = [...new Set(fields)].map((name) =>
    name.slice(0, longestName).replaceAll(/[^\x21-\x7e]/g, '?'),
  );
  const value = names.join(', ');
  return value.length > longestHeader ? `${value.slice(0, longestHeader - 3)}...` : value;
}

/** Names the fields that had no effect, so that nothing is dropped in silence. */
export function setIgnored(reply: FastifyReply, fields: readonly string[]): void {
  if (fields.length > 0) void reply.header(ignoredHeaderName, ignoredHeader(fields));
}

/** Names the steps that failed or came too late, so that an answer is not worse in silence. */
export function setDegraded(reply: FastifyReply, steps: readonly string[]): void {
  if (steps.length > 0) void reply.header(degradedHeaderName, ignoredHeader(steps));
}
