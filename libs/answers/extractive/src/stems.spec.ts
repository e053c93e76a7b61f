import { expect, it } from 'vitest';
import { stemsOf } from './stems.js';

it('gives irregular forms of a word the same stem', () => {
  expect(stemsOf('Eggs are laid')).toEqual(stemsOf('egg lay'));
  expect(stemsOf('Who held the mill?')).toEqual(stemsOf('holding mills'));
  expect(stemsOf('ForwardAgent closed')).toEqual(stemsOf('forward agent close'));
});
