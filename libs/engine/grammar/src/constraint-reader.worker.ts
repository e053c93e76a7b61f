import type { OutputConstraint } from '#platform/contracts';
import { serveWorker } from '#engine/models';
import type { Grammar } from './grammar.js';
import { readConstraint } from './constraint-grammar.js';

/** Entry point of the thread that parses constraints. A constraint may take long to parse; the thread can be ended. */
await serveWorker<undefined, OutputConstraint, never, Grammar>(async () => ({
  ready: undefined,
  dispose: async () => {},
  handle: async (constraint) => ({ value: readConstraint(constraint) }),
}));
