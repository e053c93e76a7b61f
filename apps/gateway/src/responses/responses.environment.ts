import { z } from 'zod';

const milliseconds = z.coerce.number().int().min(50);

/** The gateway's variables that concern stored responses. */
export const responsesEnvironmentShape = {
  /** Days that a finished response is kept after the last one that continues it, and a chat completion; 0: for ever. */
  RESPONSES_TTL_DAYS: z.coerce.number().min(0).default(30),
  /** Most finished responses, and most chat completions, kept; the oldest go first; 0: no bound. */
  RESPONSES_MAX_COUNT: z.coerce.number().int().min(0).default(100_000),
  /** How long a gateway may be silent before another one takes its responses over. */
  RESPONSES_LEASE_MS: milliseconds.default(15_000),
  /** Longest run of a background response. */
  RESPONSES_BACKGROUND_TIMEOUT_MS: milliseconds.default(600_000),
  /** A stream that has said nothing for this long repeats `response.in_progress`. */
  RESPONSES_KEEP_ALIVE_MS: milliseconds.default(15_000),
};
