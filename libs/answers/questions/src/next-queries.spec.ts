import { describe, expect, it } from 'vitest';
import { isAbout, nextQueries } from './next-queries.js';

const bridge =
  'The Marlow swing bridge opened in 1904. Its engineer was Elsa Quint, who had built two locks before.';
const question = 'In which year was the engineer of the Marlow swing bridge born?';
const names = (...passages: string[]) => nextQueries(question, passages).links.map(({ name }) => name);

describe('nextQueries', () => {
  it('looks up the name in the passage with the words of the question that it lacks', () => {
    expect(nextQueries(question, [bridge])).toEqual({
      missing: ['year', 'born'],
      links: [{ name: 'Elsa Quint', query: 'Elsa Quint year born' }],
    });
  });

  it('asks nothing where a passage has all words of the question but the kind of the value', () => {
    const supported = { missing: [], links: [] };
    expect(nextQueries('In which year did the Marlow swing bridge open?', [bridge])).toEqual(supported);
    expect(nextQueries('Who was born in Tarrow?', [bridge], ['Elsa Quint was born in Tarrow.'])).toEqual(
      supported,
    );
    expect(nextQueries('', [bridge])).toEqual(supported);
  });

  it('does not count words that are spread over unrelated passages', () => {
    expect(nextQueries(question, [bridge], ['Norah Weld was born in 1871.']).missing).toEqual([
      'year',
      'born',
    ]);
  });

  it('does not look up again what a name led to', () => {
    const chain = ['Elsa Quint was born in 1868.', bridge];
    expect(nextQueries(question, chain).links).toEqual([]);
  });

  it('reads names with titles, digits, initials and small words', () => {
    expect(names('The bridge was built by Dr. Imre Sandoval.')).toEqual(['Dr. Imre Sandoval']);
    expect(names('The bridge runs on a Corvane 300 pump.')).toEqual(['Corvane 300']);
    expect(names('The bridge was the subject of Brody v. Lennart.')).toEqual(['Brody v. Lennart']);
    expect(names('The bridge is in the Atlas of Fading Tongues.')).toEqual(['Atlas of Fading Tongues']);
    expect(names('The bridge is run by R2D2 on Sundays in March.')).toEqual(['R2D2']);
  });

  it('leads on with other words where a passage names nothing', () => {
    expect(names('the bridge is fed by river fever.')).toEqual(['fed river fever']);
  });

  it('stays fast for long passages', () => {
    const started = process.cpuUsage();
    for (const piece of ['A of ', 'Aa ', '9', 'A. ', "A'", 'a.'])
      nextQueries(question, [piece.repeat(8_000 / piece.length)]);
    expect(process.cpuUsage(started).user / 1000).toBeLessThan(1_500);
  });
});

describe('isAbout', () => {
  it('wants half of the words of a name', () => {
    expect(isAbout('Leif Aronsen writes.', 'Leif Aronsen')).toBe(true);
    expect(isAbout('Aronsen writes.', 'Leif Aronsen')).toBe(true);
    expect(isAbout('Leif writes.', 'Captain Leif Aronsen')).toBe(false);
    expect(isAbout('Anything', 'of the')).toBe(false);
  });
});
