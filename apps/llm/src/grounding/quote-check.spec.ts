import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CheckedPiece } from './answer-check.js';
import { passageOf } from './passage.js';
import { QuoteCheck } from './quote-check.js';
import { normaliseWhitespace } from './words.js';

const noAnswer = 'I could not find the answer in the provided documents.';
const texts = [
  'Employees receive 25 days of paid vacation per year. Unused days expire at the end of March.',
  'The office in Lisbon opens at 8 am and closes at 7 pm.\nThe office in Porto opens at 9 am. Unused days expire at the end of March.',
];

interface Setting {
  passages?: string[];
  question?: string;
  stops?: string[];
  finish?: 'stop' | 'length';
}

/** Feeds the pieces to a check and joins what it lets through. */
function run(pieces: string[], setting: Setting = {}) {
  const { passages = texts, question = '', stops = [], finish = 'stop' } = setting;
  const numbered = passages.map((text, index) => passageOf(index + 1, `d${index + 1}`, text));
  const check = new QuoteCheck({ passages: numbered, question, noAnswer, stops });
  const seen: CheckedPiece[] = [];
  let used = 0;
  for (const [index, text] of [...pieces, ''].entries()) {
    const ended = index === pieces.length ? finish : undefined;
    used += 1;
    seen.push(check.push({ text, finishReason: ended }));
    if (seen.at(-1)?.finishReason) break;
  }
  const last = seen.at(-1);
  const text = seen.map((piece) => piece.text).join('');
  return { text, used, seen, finish: last?.finishReason, citations: last?.citations ?? [] };
}

const tokens = (text: string) => text.match(/\s?\S+/g) ?? [];

describe('QuoteCheck', () => {
  it('streams a quote as it comes and adds nothing to a right number', () => {
    const answer = 'The office in Lisbon opens at 8 am and closes at 7 pm. [2]';
    const { text, seen, finish, citations } = run(tokens(answer));
    expect(text).toBe(answer);
    expect(finish).toBe('stop');
    // Six words are held back, then every token comes by itself.
    expect(seen.filter((piece) => piece.text !== '').length).toBeGreaterThan(5);
    const quote = 'The office in Lisbon opens at 8 am and closes at 7 pm.';
    expect(citations).toEqual([
      { startIndex: 0, endIndex: quote.length, passage: 2, documentId: 'd2', quote },
    ]);
  });

  it('corrects a wrong number and stops at its bracket', () => {
    const pieces = [...tokens('The office in Lisbon opens at 8 am and closes at 7 pm.'), ' [', '1', ']'];
    const { text, used } = run(pieces);
    expect(text).toBe('The office in Lisbon opens at 8 am and closes at 7 pm. [2]');
    expect(used).toBe(pieces.length - 2);
  });

  it('keeps the number that the model says where several passages hold the quote', () => {
    expect(run(tokens('Unused days expire at the end of March. [2]')).text).toMatch(/ \[2]$/);
    expect(run(tokens('Unused days expire at the end of March. [7]')).text).toMatch(/ \[1]$/);
    expect(run(tokens('Unused days expire at the end of March.')).text).toMatch(/ \[1]$/);
  });

  it('continues the only sentence that begins like this, and wants no more of the model', () => {
    const { text, used } = run(tokens('The office in Lisbon opens at 8 pm on Sundays. [1]'));
    expect(text).toBe('The office in Lisbon opens at 8 am and closes at 7 pm. [2]');
    expect(used).toBe(8);
  });

  it('chooses between sentences of one beginning by the rest of the answer', () => {
    const lisbon = 'The office in Lisbon opens at 8 am and closes at 7 pm. [2]';
    const porto = 'The office in Porto opens at 9 am. [2]';
    expect(run(tokens('The office in town closes at 7 pm. [1]')).text).toBe(lisbon);
    expect(run(tokens('The office in town opens at 9. [1]')).text).toBe(porto);
  });

  it('shows the closest sentence for an answer in other words', () => {
    expect(run(tokens('People get paid vacation of 25 days. [2]')).text).toBe(
      'Employees receive 25 days of paid vacation per year. [1]',
    );
    expect(run(tokens('Lisbon')).text).toMatch(/^The office in Lisbon .* \[2]$/);
  });

  it('listens no longer than it takes to say a sentence twice', () => {
    const { text, used } = run(Array.from({ length: 1000 }, () => ' vacation'));
    expect(text).toBe('Employees receive 25 days of paid vacation per year. [1]');
    expect(used).toBeLessThan(20);
  });

  it('completes a sentence that the model left early', () => {
    expect(run(tokens('Employees receive 25 days of paid [1]')).text).toBe(
      'Employees receive 25 days of paid vacation per year. [1]',
    );
  });

  it('begins the sentence where the model began within it', () => {
    const { text, seen } = run(tokens('days of paid vacation per year. [1]'));
    expect(text).toBe('Employees receive 25 days of paid vacation per year. [1]');
    expect(seen.findIndex((piece) => piece.text !== '')).toBeLessThan(6);
  });

  it('quotes several sentences of one passage', () => {
    expect(run(tokens(`${texts[0]} [1]`)).text).toBe(`${texts[0]} [1]`);
    // Of the second sentence too little was said.
    expect(run(tokens('The office in Lisbon opens at 8 am and closes at 7 pm. The end. [2]')).text).toBe(
      'The office in Lisbon opens at 8 am and closes at 7 pm. [2]',
    );
  });

  it('does not take the words of a heading for a quote of it', () => {
    const passages = ['Tea\n\nTea is a hot drink. Yes.'];
    expect(run(tokens('Tea is the hot drink. [1]'), { passages }).text).toBe('Tea is a hot drink. [1]');
    expect(run(tokens('Tea [1]'), { passages }).text).toBe('Tea [1]');
    expect(run(tokens('Tea Tea is a hot drink. Yes. [1]'), { passages }).text).toBe(
      'Tea Tea is a hot drink. Yes. [1]',
    );
  });

  it('leaves the sentence without an answer as it is', () => {
    expect(run(tokens(noAnswer))).toMatchObject({ text: noAnswer, citations: [] });
    expect(run(tokens('I could not find it.')).text).toBe(noAnswer);
    expect(run(tokens('xyzzy'), { question: 'plugh?' }).text).toBe(noAnswer);
    expect(run([], { passages: [] }).text).toBe(noAnswer);
  });

  it('answers with the sentence nearest to the question where the model says nothing of use', () => {
    expect(run([], { question: 'When do unused days expire?' }).text).toBe(
      'Unused days expire at the end of March. [1]',
    );
  });

  it('never answers with the question itself, nor quotes across it', () => {
    const question = 'When does the office open?';
    const asking = `curl http://host -d '{"text":"When does the office open?"}'`;
    const passages = [asking, `Opening hours for visitors.\n\n${question} It opens at 8 am every day.`];
    const answer = 'It opens at 8 am every day. [2]';
    expect(run(tokens(`${asking} [1]`), { passages, question }).text).not.toContain('curl');
    expect(run(tokens(`${question} ${answer}`), { passages, question }).text).toBe(answer);
    expect(
      run(tokens(`Opening hours for visitors. ${question} ${answer}`), { passages, question }).text,
    ).toBe('Opening hours for visitors. [2]');
    expect(run(tokens(`${question} [1]`), { passages: [asking], question }).text).toBe(noAnswer);
  });

  it('ends where max_tokens ends', () => {
    const { text, finish, citations } = run(tokens('The office in Porto opens'), { finish: 'length' });
    expect({ text, finish }).toEqual({ text: 'The office in Porto opens', finish: 'length' });
    expect(citations).toMatchObject([{ passage: 2, quote: text }]);
    expect(run([], { finish: 'length' })).toMatchObject({ text: '', finish: 'length' });
  });

  it('keeps stop strings out of what it adds', () => {
    expect(run(tokens('Employees receive 25 days of'), { stops: ['vacation'] }).text).toBe(
      'Employees receive 25 days of paid ',
    );
    expect(run(tokens('days of paid vacation per'), { stops: ['receive'] }).text).toBe('Employees ');
  });

  it.each([1, 3, 9])(
    'passes the logprobs of the tokens that are shown, and only those (%i at once)',
    (size) => {
      const passages = texts.map((text, index) => passageOf(index + 1, `d${index}`, text));
      const check = new QuoteCheck({ passages, question: '', noAnswer, stops: [] });
      const logprob = (token: string) => ({ token, logprob: -1, bytes: null, top_logprobs: [] });
      const said = tokens('The office in Lisbon opens at 8 pm today');
      const events = Array.from({ length: said.length / size }, (_unused, index) =>
        said.slice(index * size, (index + 1) * size),
      );
      const pieces = events.map((group) =>
        check.push({ text: group.join(''), logprobs: group.map(logprob) }),
      );
      expect(pieces.flatMap(({ logprobs = [] }) => logprobs.map(({ token }) => token))).toEqual(
        tokens('The office in Lisbon opens at 8'),
      );
    },
  );
});

/** A quote, its right number and its citation; or the sentence without an answer; or, cut off, part of either. */
function isLegal({ text, finish, citations }: ReturnType<typeof run>, passages: string[]): boolean {
  const lines = passages.map(normaliseWhitespace);
  if (finish === 'length') return [...lines, noAnswer].some((line) => line.includes(text));
  if (text === noAnswer && citations.length === 0) return true;
  const [, quote = '', number = ''] = /^(.+) \[(\d+)]$/s.exec(text) ?? [];
  const verbatim = ` ${lines[Number(number) - 1]} `.includes(` ${quote} `);
  const expected = {
    startIndex: 0,
    endIndex: quote.length,
    passage: Number(number),
    documentId: `d${number}`,
    quote,
  };
  return finish === 'stop' && verbatim && JSON.stringify(citations) === JSON.stringify([expected]);
}

describe('QuoteCheck, whatever the model says', () => {
  const word = fc.constantFrom('a', 'the', 'The', 'cat', 'sat', 'on', 'mat', 'dog', 'No', '5', 'e.g.', '[2]');
  const sentence = fc
    .tuple(fc.array(word, { minLength: 1, maxLength: 9 }), fc.constantFrom('.', '?', '!', ''))
    .map(([words, end]) => words.join(' ') + end);
  const passage = fc
    .array(sentence, { minLength: 1, maxLength: 4 })
    .chain((sentences) => fc.constantFrom(' ', '  ', '\n', '\n\n').map((gap) => sentences.join(gap)));
  const setting = fc.record({
    passages: fc.array(passage, { minLength: 1, maxLength: 3 }),
    question: sentence,
    finish: fc.constantFrom('stop' as const, 'length' as const),
  });
  const piece = (all: string) =>
    fc.oneof(
      fc.tuple(fc.nat(all.length), fc.nat(60)).map(([start, length]) => all.slice(start, start + length)),
      word,
      fc.constantFrom(' ', ' [1]', ' [', '2]', '\n', noAnswer, noAnswer.slice(0, 14), ' could not', 'é'),
    );
  const scenario = setting.chain((given) => {
    const all = [...given.passages, noAnswer].join(' ');
    return fc.tuple(fc.constant(given), fc.array(piece(all), { maxLength: 8 }));
  });

  it('the stream is whole sentences of a passage with its number, or says that there is no answer', () => {
    const legal = fc.property(scenario, ([given, pieces]) => isLegal(run(pieces, given), given.passages));
    expect(() => fc.assert(legal, { numRuns: 2000 })).not.toThrow();
  });

  it('the stream does not depend on how the model cuts its text', () => {
    fc.assert(
      fc.property(scenario, ([given, pieces]) => {
        const whole = pieces.join('');
        expect(run(whole.split(''), given).text).toBe(run([whole], given).text);
      }),
      { numRuns: 500 },
    );
  });
});
