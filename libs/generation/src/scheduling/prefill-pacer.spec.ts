import { expect, it } from 'vitest';
import { PrefillPacer } from './prefill-pacer.js';

it('gives answers as much time as a piece of a prompt took', () => {
  const pacer = new PrefillPacer();
  expect(pacer.allowsPrefill).toBe(true);
  pacer.notePrefill(50);
  pacer.noteDecode(30);
  expect(pacer.allowsPrefill).toBe(false);
  pacer.noteDecode(30);
  expect(pacer.allowsPrefill).toBe(true);
});
