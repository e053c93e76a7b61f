import { baseEnvironmentSchema, databaseEnvironmentSchema } from './environment.js';
import { databaseOptions } from './database-options.js';
import { expect, it } from 'vitest';

it('sizes the pool of a service by DATABASE_POOL_SIZE, and by a default without it', () => {
  const schema = baseEnvironmentSchema.extend(databaseEnvironmentSchema.shape);
  const optionsWith = (variables: object) =>
    databaseOptions('retrieval', schema.parse({ DATABASE_URL: 'postgres://db/meganest', ...variables }));
  expect(optionsWith({}).maxConnections).toBe(4);
  expect(optionsWith({ DATABASE_POOL_SIZE: '16' }).maxConnections).toBe(16);
  expect(() => optionsWith({ DATABASE_POOL_SIZE: '0' })).toThrow('DATABASE_POOL_SIZE');
});
