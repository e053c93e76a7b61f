import { describe, expect, it } from 'vitest';
import { stemsOf } from '../stems.js';
import { englishSynonyms } from './english-synonyms.js';
import { inWordsOf, synonymsOf, withoutPhrases } from './synonyms.js';

describe('synonymsOf', () => {
  it('has the words that say the same, in any form', () => {
    const [rival, competitors] = stemsOf('rival competitors');
    expect(synonymsOf(rival!)).toContain(competitors);
    expect(synonymsOf(competitors!)).toContain(rival);
    expect(synonymsOf('zebra').size).toBe(0);
  });

  it('does not have things of one kind, or opposites', () => {
    const pairs = [
      'dog cat',
      'open close',
      'Monday Tuesday',
      'allowed forbidden',
      'buy sell',
      'tenant landlord',
    ];
    const joined = pairs.filter((pair) => {
      const [one, other] = stemsOf(pair);
      return synonymsOf(one!).has(other!);
    });
    expect(joined).toEqual([]);
  });

  it('has each word once in its group', () => {
    const groups = englishSynonyms.split(/[|\n]/).map((group) => group.split(',').map((word) => word.trim()));
    expect(groups.filter((group) => new Set(group).size < group.length)).toEqual([]);
  });
});

describe('inWordsOf', () => {
  const say = (question: string, passage: string) => inWordsOf(question, new Set(stemsOf(passage)))(passage);

  it('writes a passage in the words of a question', () => {
    expect(say('Can I join a rival firm?', 'You may work for a competitor.')).toBe(
      'You may work for a rival.',
    );
    expect(say('How long are readings stored?', 'Readings are kept for 400 days.')).toBe(
      'Readings are stored for 400 days.',
    );
  });

  it('writes a passage in another language in the words of a question', () => {
    const translate = (word: string) => (word === 'Kaution' ? ['deposit'] : []);
    const text = 'The deposit is 80 euros.';
    const say = inWordsOf('Wie hoch ist die Kaution?', new Set(stemsOf(text)), translate);
    expect(say(text)).toBe('The Kaution is 80 euros.');
  });

  it('leaves a passage that has the word of the question', () => {
    const passage = 'The rival is named. A competitor is not.';
    expect(say('Which rival is it?', passage)).toBe(passage);
  });
});

describe('withoutPhrases', () => {
  it('takes the word that the text has', () => {
    const known = new Set(stemsOf('When somebody close to you dies'));
    const isKnown = (stem: string) => known.has(stem);
    expect(withoutPhrases('My aunt passed away', isKnown)).toBe('My aunt die');
    expect(withoutPhrases('My aunt passed away', () => false)).toBe('My aunt passed away');
  });
});
