import { describe, expect, it } from 'vitest';
import { DocumentLanguages } from './document-languages.js';

const english = 'The office is open from eight to five, and it is closed on Sundays.';
const german = 'Das Büro ist von acht bis fünf geöffnet und am Sonntag geschlossen.';

describe('DocumentLanguages', () => {
  it('knows the languages of the found passages, the most frequent one first', () => {
    const languages = new DocumentLanguages();
    languages.learn('a', [german, english, german, german]);
    expect(languages.namesOf('a')).toEqual(['German', 'English']);
    expect(languages.namesOf('b')).toEqual([]);
  });

  it('does not know them from few passages, nor a language that is rare', () => {
    const languages = new DocumentLanguages();
    languages.learn('a', [english, english]);
    expect(languages.namesOf('a')).toEqual([]);
    for (let count = 0; count < 3; count += 1) languages.learn('a', [english, english, english, english]);
    languages.learn('a', [english, german]);
    expect(languages.namesOf('a')).toEqual(['English']);
  });

  it('follows new documents', () => {
    const languages = new DocumentLanguages();
    for (let count = 0; count < 5; count += 1) languages.learn('a', Array<string>(5).fill(english));
    for (let count = 0; count < 12; count += 1) languages.learn('a', Array<string>(5).fill(german));
    expect(languages.namesOf('a')).toEqual(['German']);
  });

  it('keeps a thousand scopes', () => {
    const languages = new DocumentLanguages();
    for (let scope = 0; scope <= 1_000; scope += 1)
      languages.learn(String(scope), [english, english, english]);
    expect(languages.namesOf('0')).toEqual([]);
    expect(languages.namesOf('1')).toEqual(['English']);
  });
});
