import { getSha256Backend } from '@nats-io/obj';
import { expect, it } from 'vitest';
import './object-store.js';

it('hashes objects with the native SHA-256, since the default holds the event loop for 25 ms a MiB', () => {
  expect(getSha256Backend()).toBe('native');
});
