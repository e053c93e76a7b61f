import { expect, it } from 'vitest';
import { routeOf } from './router';

it('reads the passage in the address of a citation', () => {
  expect(routeOf('#/documents/d1?passage=3')).toEqual({ page: 'documents', id: 'd1', passage: 3 });
  expect(routeOf('#/documents/d1')).toEqual({ page: 'documents', id: 'd1' });
});
