import { expect, it } from 'vitest';
import { isNewEnough, oldestVersion } from './nats-version.js';

it.each(['2.10.27', '2.10.30-RC.1', '2.11.1', '2.12.0', '2.15.1', '3.0.0'])('takes %s', (version) => {
  expect(isNewEnough(version)).toBe(true);
});

it.each(['2.9.10', '2.10.26', '2.11.0', '1.4.1', '0.0.0', 'unknown'])('refuses %s', (version) => {
  expect(isNewEnough(version)).toBe(false);
});

it('says which are new enough', () => {
  expect(oldestVersion).toBe('2.10.27 or 2.11.1');
});
