import { booleanSchema, bytes, count, days, milliseconds } from '#service-kit';
import { z } from 'zod';

const gigabyte = 1024 ** 3;

/** The gateway's variables that concern stored responses. */
export const responsesEnvironmentShape = {
  /** Days that a finished response is kept after the last one that continues it, and a chat completion; 0: for ever. */
  RESPONSES_TTL_DAYS: days().default(30),
  /** Most finished responses, and most chat completions, of one owner; the oldest go first; 0: no bound. */
  RESPONSES_MAX_COUNT: count(0).default(100_000),
  /** Most bytes of the finished responses, and of the chat completions, of one owner; the oldest go first; 0: no bound. */
  RESPONSES_LIMIT_BYTES: bytes('stored', 0).default(10 * gigabyte),
  /** Most bytes of the conversations and records of one owner; 0: no bound. */
  CONVERSATIONS_LIMIT_BYTES: bytes('stored', 0).default(2 * gigabyte),
  /** Days that a conversation is kept after its last change; 0: for ever. */
  CONVERSATIONS_TTL_DAYS: days().default(0),
  /** How long a gateway may be silent before another one takes its responses over. */
  RESPONSES_LEASE_MS: milliseconds(50).default(15_000),
  /** Longest run of a background response. */
  RESPONSES_BACKGROUND_TIMEOUT_MS: milliseconds(50).default(600_000),
  /** A stream that has said nothing for this long repeats `response.in_progress`. */
  RESPONSES_KEEP_ALIVE_MS: milliseconds(50).default(15_000),
  /** Comma list of secrets that seal what clients keep for the server; the first seals, all open. */
  RESPONSES_ENCRYPTION_KEYS: z
    .string()
    .transform((value) => value.split(',').map((key) => key.trim()))
    .pipe(z.array(z.string().min(32, 'must have at least 32 characters each')))
    .default([]),
  /** What becomes of images, which the model cannot see: refused, or described by type and size. */
  RESPONSES_IMAGE_INPUT: z.enum(['refuse', 'describe']).default('refuse'),
  /** Longest wait for an answer of an MCP server. */
  RESPONSES_MCP_TIMEOUT_MS: milliseconds(50).default(60_000),
  /** Longest wait for a file behind a URL. */
  LINK_TIMEOUT_MS: milliseconds(50).default(20_000),
  /** Lets files and MCP servers lie at private addresses, e.g. in an intranet. */
  ALLOW_PRIVATE_LINKS: booleanSchema.default(false),
  /** Longest life of a WebSocket. */
  RESPONSES_SOCKET_LIFETIME_MS: milliseconds(50).default(3_600_000),
  /** Most WebSockets open at once. */
  RESPONSES_MAX_SOCKETS: count(0).default(256),
};
