import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rewriteQuery } from './rewrite-query.js';

describe('rewriteQuery', () => {
  it.each([
    ['Hi, could you please tell me what the engine runs on? Thanks!', 'what the engine runs on?'],
    ["Hello there! I'd like to know the height of the tower.", 'the height of the tower'],
    ['Do you know how many cogs the clock has?', 'how many cogs the clock has?'],
    [
      'Hallo, können Sie mir bitte sagen, wie viele Zahnräder die Uhr hat?',
      'wie viele Zahnräder die Uhr hat?',
    ],
    ['plum juice', 'plum juice'],
    ['thanksgiving opening hours', 'thanksgiving opening hours'],
    ['Hello, please. Thanks!', 'Hello, please. Thanks!'],
  ])('makes %j %j', (query, rewritten) => {
    expect(rewriteQuery(query)).toBe(rewritten);
  });

  it('never leaves nothing to search for, and keeps every word of the subject', () => {
    expect.hasAssertions();
    const word = fc.constantFrom(
      'hi',
      'please',
      'thanks',
      'tell me',
      'engine',
      '?',
      ',',
      'do you know',
      'cogs',
    );
    fc.assert(
      fc.property(
        fc.array(word, { minLength: 1 }).map((words) => words.join(' ')),
        (query) => {
          expect(rewriteQuery(query).trim()).not.toBe('');
          const subjects = (text: string) => text.match(/engine|cogs/g) ?? [];
          expect(subjects(rewriteQuery(query))).toEqual(subjects(query));
        },
      ),
    );
  });
});
