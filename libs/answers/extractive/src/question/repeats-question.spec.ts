import { describe, expect, it } from 'vitest';
import { repeatsOf } from './repeats-question.js';

const question = 'What happens when a service dies?';

describe('repeatsOf', () => {
  it.each([
    [question, 'What happens when a service dies?'],
    [question, '## What happens when a service dies'],
    [question, 'Question: what happens if a service dies?'],
    [question, '"What happens when one service dies?"'],
    [question, `-d '{"text":"What happens when a service dies?","k":10,"top_n":2}'`],
    [question, `curl http://host/ask -d '{"content":"what happens when a service dies"}'`],
    [question, `const answer = await ask({ content: 'What happens when a service dies?'`],
    ['what happens when a service dies', `{"content":"What happens when a service dies?"}`],
    ['服务死了会怎样？', '服务死了会怎样？'],
    ['Vacation', '# Vacation'],
  ])('%j is repeated by %j', (asked, sentence) => {
    expect(repeatsOf(asked)(sentence)).toBe(true);
  });

  it.each([
    [question, 'When a service dies, the launcher restarts it.'],
    [question, 'What happens when a gateway loses its database and its broker at once?'],
    [question, `{"question":"What happens when a service dies?","answer":"The launcher restarts it."}`],
    ['Which port does the gateway use?', 'question: Which port does the gateway use?; answer: 8888'],
    ['Which port does the gateway use?', '**Which port does the gateway use?** 8888.'],
    ['Which port does the gateway use?', 'Which port does the gateway use? – 8888'],
    ['Which port does the gateway use?', '{"question":"Which port does the gateway use?","answer":"8888"}'],
    ['Is the office in Lisbon open on Sundays?', 'The office in Lisbon is open on Sundays.'],
    ['Where was Napoleon born?', 'Ajaccio is where Napoleon was born.'],
    ['where Napoleon was born?', 'Ajaccio is where Napoleon was born.'],
    ['fermented plum juice', 'The engine runs on "fermented plum juice".'],
    ['deconstruct accepted', 'Can you deconstruct what you have simply accepted as correct?'],
    ['Why?', 'He asked "Why?"'],
    ['?', '?'],
    ['', 'Anything.'],
    [question, '—'],
  ])('%j is not repeated by %j', (asked, sentence) => {
    expect(repeatsOf(asked)(sentence)).toBe(false);
  });
});
