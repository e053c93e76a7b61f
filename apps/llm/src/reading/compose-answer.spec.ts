import { describe, expect, it } from 'vitest';
import { quoteOf, quoteOfSeveral } from './compose-answer.js';
import { candidatesOf } from './evidence.js';
import { readPassages } from './sentence.js';

function quote(text: string, chosen: string, metadata: Record<string, unknown> = {}) {
  const passages = readPassages([{ id: 'd', text, score: 1, metadata }]);
  const candidate = candidatesOf(passages).find(({ sentence }) => sentence.text.includes(chosen));
  const { lead, text: quoted } = quoteOf(candidate!, passages[0]!);
  return lead + quoted;
}

describe('quoteOf', () => {
  it('quotes a sentence as it stands', () => {
    expect(quote('Tea is hot. Ice is\ncold. Air is thin.', 'Ice')).toBe('Ice is cold.');
  });

  it('begins with the sentence that the quoted one refers to', () => {
    expect(quote('Zorvex is a broker. It was released in 2031.', '2031')).toBe(
      'Zorvex is a broker. It was released in 2031.',
    );
    expect(quote('Zorvex is a broker. It is fast. It was released in 2031.', '2031')).toBe(
      'Zorvex is a broker. It is fast. It was released in 2031.',
    );
  });

  it('begins with the heading where nothing stands before', () => {
    const metadata = { title: 'Guide', heading: 'Guide > Zorvex' };
    expect(quote('It was released in 2031. More.', '2031', metadata)).toBe(
      'Zorvex: It was released in 2031.',
    );
    expect(quote('It was released in 2031. More.', '2031')).toBe('It was released in 2031.');
  });

  it('quotes an item behind the sentence that announces its list', () => {
    const text = 'Some text.\n\nThe parts are:\n\na wheel\n\na bell\n\nThat is all.';
    expect(quote(text, 'bell', { blocks: 'ppiip' })).toBe('The parts are:\n- a bell');
    expect(quote(text, 'parts', { blocks: 'ppiip' })).toBe('The parts are:\n- a wheel\n- a bell');
  });

  it('quotes code whole, between fences, with what announces it', () => {
    const text = 'Start it:\n\nnpm ci\n\nnpm start # all\n\nThen ask.';
    expect(quote(text, 'npm start', { blocks: 'pccp' })).toBe(
      'Start it:\n```\nnpm ci\n\nnpm start # all\n```',
    );
    expect(quote(text, 'Start it', { blocks: 'pccp' })).toBe(
      'Start it:\n```\nnpm ci\n\nnpm start # all\n```',
    );
    expect(quote('a ``` b', 'b', { blocks: 'c' })).toBe('````\na ``` b\n````');
  });

  it('quotes several rows and items on lines of their own', () => {
    const rows = 'port: 1; service: a\n\nport: 2; service: b';
    const [passage] = readPassages([{ id: 'd', text: rows, score: 1, metadata: { blocks: 'rr' } }]);
    expect(quoteOfSeveral(passage!.sentences, passage!).text).toBe(
      '- port: 1; service: a\n- port: 2; service: b',
    );
  });
});
