import { describe, expect, it } from 'vitest';
import { formAt, nextBeginning, type FoundForm } from './citation-forms.js';

const read = (text: string) => formAt(text, 0, true) as FoundForm | undefined;

describe('formAt', () => {
  it.each<[string, number[]]>([
    ['[1]', [1]],
    ['[12]', [12]],
    ['[1, 2]', [1, 2]],
    ['[1; 2]', [1, 2]],
    ['[1 and 2]', [1, 2]],
    ['[1, 2 und 3]', [1, 2, 3]],
    ['[1-3]', [1, 2, 3]],
    ['[1–3, 5]', [1, 2, 3, 5]],
    ['[[1]]', [1]],
    ['[[1]](https://a.example/x)', [1]],
    ['[1](handbook.md#hours)', [1]],
    ['**[1]**', [1]],
    [String.raw`\[1\]`, [1]],
    ['([1])', [1]],
    ['([1], [2])', [1, 2]],
    ['(see [1] and [2])', [1, 2]],
    ['【1】', [1]],
    ['【1†source】', [1]],
    ['【4:1†file】', [1]],
    ['【4:1†hand.md】', [1]],
    ['［1］', [1]],
    ['［１］', [1]],
    ['(source 1)', [1]],
    ['(Sources 1 and 2)', [1, 2]],
    ['(Source: [1])', [1]],
    ['[Source 1]', [1]],
    ['[Source: 1, 2]', [1, 2]],
    ['[Source 1, Source 2]', [1, 2]],
    ['[Result 1]', [1]],
    ['[doc 1]', [1]],
    ['[doc1]', [1]],
    ['[#1]', [1]],
    ['[^1]', [1]],
    ['[^1^]', [1]],
    ['[^1]:', [1]],
    ['[ID:1]', [1]],
    ['[citation:1]', [1]],
    ['[cite: 1, 2]', [1, 2]],
    ['[1, p. 12]', [1]],
    ['[Source 2, page 12]', [2]],
    ['(Quelle 2, S. 4)', [2]],
    ['¹', [1]],
    ['¹²', [12]],
    ['¹,²', [1, 2]],
    ['<sup>1</sup>', [1]],
    ['<sup>[1]</sup>', [1]],
    ['<sup>1, 2</sup>', [1, 2]],
    ['<source id="1">', [1]],
    ['<source id=1/>', [1]],
    ['<source id="1"></source>', [1]],
    ['<ref>1</ref>', [1]],
    ['<source 1>', [1]],
    ['(1)', [1]],
    ['##0$$', [1]],
    ['search result 1', [1]],
    ['search results 1 and 2', [1, 2]],
    ['Suchergebnis 2', [2]],
  ])('reads %s, and holds its beginnings', (form, numbers) => {
    expect([read(form)?.end, read(form)?.numbers]).toEqual([form.length, numbers]);
    for (let length = 1; length < form.length; length += 1)
      expect([form.slice(0, length), formAt(form.slice(0, length), 0, false)]).toEqual([
        form.slice(0, length),
        'open',
      ]);
  });

  it.each(['[x]', '[2024]', '[1.5]', '(see below)', '<b>1</b>', '[a, 1]', '[]', 'search results', '[1e2]'])(
    'does not read %s',
    (text) => expect(read(text)).toBeUndefined(),
  );

  it('does not hold other texts', () => {
    for (const text of ['[xy', '(the', '<b', 'the', 'search for', '(2024', 'source code'])
      expect([text, formAt(text, 0, false)]).toEqual([text, undefined]);
  });
});

it('nextBeginning finds brackets, signs and words', () => {
  expect(nextBeginning('Tea [1]', 0)).toBe(4);
  expect(nextBeginning('Tea **[1]**', 0)).toBe(4);
  expect(nextBeginning('As in source 1', 0)).toBe(6);
  expect(nextBeginning('Nothing to look at', 0)).toBe(-1);
});
