import { describe, expect, it } from 'vitest';
import { holds, judge, saysMissing } from './judge.js';
import type { Question } from './questions.js';

const question: Question = {
  id: 'x',
  kind: 'handbook',
  type: 'fact',
  turns: ['How many days?'],
  answers: ['26 days'],
  all: [],
  wrong: [],
  documents: ['time-off.md'],
  code: false,
};
const judged = (text: string, changes: Partial<Question> = {}) =>
  judge({ ...question, ...changes }, { text, citations: [] });

describe('holds', () => {
  it('finds a text whatever its marks and hyphens', () => {
    expect(holds('**26 days** – everyone gets 26 days.[1]', '26 days')).toBe(true);
    expect(holds('about 5,000 Euro', '5000 euro')).toBe(true);
    expect(holds('a 5 % share', '5%')).toBe(true);
    expect(holds('the self-service shop', 'self service')).toBe(true);
    expect(holds('on 2024-02-06 (C++)', '2024-02-06')).toBe(true);
  });

  it('does not find a part of a longer number or word', () => {
    expect(holds('126 days', '26 days')).toBe(false);
    expect(holds('189.50', '189')).toBe(false);
    expect(holds('4.50', '50')).toBe(false);
    expect(holds('leading', 'lead')).toBe(false);
    expect(holds('costs 189.', '189')).toBe(true);
  });

  it('takes a yes or a no only as the first word', () => {
    expect(holds('No, it is not.', 'no')).toBe(true);
    expect(holds('There is no pump.', 'no')).toBe(false);
  });
});

describe('saysMissing', () => {
  it('tells the product’s own words from text of documents', () => {
    expect(saysMissing('I could not find the answer in the provided documents.')).toBe(true);
    expect(saysMissing('“Falcon” is not mentioned in these documents.')).toBe(true);
    expect(saysMissing('Ich konnte das in den Dokumenten nicht finden.')).toBe(true);
    expect(saysMissing('The cause was not found in the first inspection.')).toBe(false);
    expect(saysMissing('Heating is not included in it.')).toBe(false);
  });
});

describe('judge', () => {
  it('counts a short answer that begins with the fact as clean', () => {
    expect(judged('Everyone gets 26 days of leave.[1]')).toMatchObject({
      right: true,
      first: true,
      clean: true,
    });
  });

  it('counts a right answer after a hedge as prefaced', () => {
    const verdict = judged('I am not sure, but the documents say: Everyone gets 26 days.');
    expect(verdict).toMatchObject({ right: true, first: true, clean: false, prefaced: true });
  });

  it('knows the preface of German answers', () => {
    expect(judged('Nächstliegende Stellen:\n\n26 days').prefaced).toBe(true);
    expect(judged('Nächstliegende Stelle: 26 days').prefaced).toBe(true);
  });

  it('counts a fact after sixty words as not first', () => {
    expect(judged(`${'word '.repeat(60)}26 days`)).toMatchObject({ right: true, first: false, clean: false });
  });

  it.each([
    ['rows', 'Name: leave; Value: 26 days; Unit: day'],
    ['lines of CSV', '26 days;b;c;d;e'],
    ['shortcodes', '26 days {{< note >}}'],
    ['fences', '```\n26 days\n```'],
    ['length', `26 days ${'word '.repeat(120)}`],
  ])('counts a right answer with noise as not clean: %s', (_name, text) => {
    expect(judged(text)).toMatchObject({ right: true, first: true, clean: false });
  });

  it('wants each item of a list, and none of the wrong texts', () => {
    const list = { answers: [], all: [['tea'], ['coffee', 'espresso']] };
    expect(judged('Tea and espresso.', list).right).toBe(true);
    expect(judged('Tea.', list).right).toBe(false);
    expect(judged('26 days, 30 days', { wrong: ['30 days'] }).right).toBe(false);
  });

  it('wants a short number among the first words, and an answer within the asked length', () => {
    const five = { answers: ['5'], within: 3 };
    expect(judged('5 orders were cancelled.', five).right).toBe(true);
    expect(judged('Order 1: item 3, amount 5', five).right).toBe(false);
    expect(judged('26 days of leave', { maxWords: 2 }).right).toBe(false);
  });

  it('wants an unanswerable question refused', () => {
    const unanswerable = { type: 'unanswerable', answers: [] };
    expect(judged('I could not find this in the documents. Closest passage: …', unanswerable).right).toBe(
      true,
    );
    expect(judged('Closest passage: 26 days', unanswerable).right).toBe(false);
  });

  it('wants a short reply to small talk, without a search', () => {
    const talk = { type: 'small-talk', answers: [] };
    expect(judged('You are welcome!', talk).right).toBe(true);
    expect(judged('I could not find the answer in the documents.', talk).right).toBe(false);
    const citations = [{ quote: 'x', filename: 'y' }];
    expect(judge({ ...question, ...talk }, { text: 'Hello', citations }).right).toBe(false);
  });
});
