import { describe, expect, it } from 'vitest';
import { stemsOf } from '../stems.js';
import { questionTopic } from './question-topic.js';

describe('questionTopic', () => {
  it.each([
    ['How many calories does the tagine have?', 'calories', ''],
    ['How much electricity does the oven use?', 'electricity', ''],
    ['How many open positions are in Linz?', 'positions', 'Linz'],
    ['What is the recipe for croissants?', '', 'croissants'],
    ['How many hours does it take?', '', ''],
    ['What does it mean?', '', ''],
    ['Where is it?', '', ''],
  ])('%s: %s, %s', (question, counted, last) => {
    const thing = questionTopic(question);
    expect(thing.counted).toEqual(stemsOf(counted));
    expect(thing.last).toEqual(stemsOf(last));
  });
});
