import type { OutputConstraint } from '#contracts';
import { serveWorker } from '#models';
import type { Grammar } from './grammar.js';
import { readConstraint } from './constraint-grammar.js';

/** Entry of the thread that reads constraints. What a caller sends may take long to read, so that the thread can be ended. */
await serveWorker<undefined, OutputConstraint, never, Grammar>(async () => ({
  ready: undefined,
  dispose: async () => {},
  handle: async (constraint) => ({ value: readConstraint(constraint) }),
}));
