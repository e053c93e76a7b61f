import { serveWorker } from '#engine/models';
import type { FormJob } from './form-checker.js';
import { formTest, type FormTest, type TextForm } from './form-test.js';

/** Limit for the cached forms. */
const maxKept = 64;
const kept = new Map<string, FormTest>();

/** Entry of the thread that checks answers of engines. A caller's schema may be slow; then the thread is terminated. */
await serveWorker<undefined, FormJob, never, string | undefined>(async () => ({
  ready: undefined,
  dispose: async () => {},
  handle: async ({ form, text }) => {
    const test = testOf(form);
    return { value: text === undefined ? undefined : test(text) };
  },
}));

function testOf(form: TextForm): FormTest {
  const key = JSON.stringify(form);
  const test = kept.get(key) ?? formTest(form);
  kept.delete(key);
  kept.set(key, test);
  const [oldest] = kept.keys();
  if (kept.size > maxKept) kept.delete(oldest!);
  return test;
}
