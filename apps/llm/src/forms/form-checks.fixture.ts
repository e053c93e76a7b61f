import type { FormChecker } from './form-checker.js';
import { formTest } from './form-test.js';

/** Checks in this thread, for tests. */
export const checksHere: Pick<FormChecker, 'prepare' | 'wrongWith'> = {
  prepare: async (form) => void formTest(form),
  wrongWith: async (form, text) => formTest(form)(text),
};
