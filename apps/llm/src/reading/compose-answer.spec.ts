import { describe, expect, it } from 'vitest';
import { quoteOf, quoteOfSeveral } from './compose-answer.js';
import { candidatesOf } from './evidence.js';
import { readPassages } from './sentence.js';

function quote(
  text: string,
  chosen: string,
  metadata: Record<string, unknown> = {},
  question = '',
  isUnsure = false,
) {
  const passages = readPassages([{ id: 'd', text, score: 1, metadata }]);
  const candidate = candidatesOf(question, passages).find(({ sentence }) => sentence.text.includes(chosen));
  const { lead, text: quoted } = quoteOf(candidate!, passages[0]!, { question, isUnsure });
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
    expect(quote('It was released in 2031.', '2031', metadata)).toBe('Zorvex: It was released in 2031.');
    expect(quote('It was released in 2031. More.', '2031')).toBe('It was released in 2031.');
  });

  it('begins with the term that the passage explains, and with what it means', () => {
    const metadata = { title: 'Mill', heading: 'Mill > Options > --grain=KIND' };
    const text = 'Grinds this kind of grain. Given twice, the last one counts.';
    expect(quote(text, 'Grinds', metadata)).toBe('--grain=KIND: Grinds this kind of grain.');
    expect(quote(text, 'Grinds', metadata, 'How do I grind?')).toBe(`--grain=KIND: ${text}`);
    expect(quote(text, 'twice', metadata)).toBe(`--grain=KIND: ${text}`);
    expect(quote('--grain=KIND grinds.', 'grinds', metadata)).toBe('--grain=KIND grinds.');
  });

  it('begins with a heading that has words of the question which the sentence lacks', () => {
    const metadata = { title: 'Guide', heading: 'Guide > Backups' };
    const copy = 'Copy the directory.';
    expect(quote(copy, 'Copy', metadata, 'How do I make backups?')).toBe(`Backups: ${copy}`);
    expect(quote(copy, 'Copy', metadata, 'What is to be copied?')).toBe(copy);
    expect(quote(copy, 'Copy', { title: 'Backups' }, 'How do I make backups?')).toBe(copy);
  });

  it('goes on to the end of the paragraph and with what it announces below a heading', () => {
    const metadata = { title: 'Guide', heading: 'Guide > Backups', blocks: 'ppcp' };
    const text = 'Other text.\n\nStop all. Copy the data then:\n\ncp -a data copy\n\nThat is it.';
    expect(quote(text, 'Stop', metadata, 'How do I stop?')).toBe(
      'Stop all. Copy the data then:\n```\ncp -a data copy\n```',
    );
    expect(quote(text, 'Stop', { blocks: 'ppcp' }, 'How do I stop?')).toBe('Stop all.');
    expect(quote(text, 'Stop', metadata, 'Is it on?', true)).toBe(
      quote(text, 'Stop', metadata, 'How do I stop?'),
    );
    expect(quote(text, 'Stop', metadata, 'Is it on?')).toBe('Stop all.');
    expect(quote(text, 'Stop', metadata, 'Who stops all?')).toBe('Stop all.');
  });

  it('leaves out the sentences of a paragraph that is too long', () => {
    const metadata = { title: 'Guide', heading: 'Guide > Backups' };
    const long = `${Array.from({ length: 58 }, () => 'word').join(' ')}.`;
    expect(quote(`Mills grind. ${long} Short.`, 'grind', metadata, 'How to grind?')).toBe(
      `Mills grind. ${long}`,
    );
    expect(quote(`Mills grind. More ${long} Short.`, 'grind', metadata, 'How to grind?')).toBe(
      'Mills grind.',
    );
  });

  it('sets code behind its heading on lines of its own', () => {
    const metadata = { title: 'Guide', heading: 'Guide > npm start', blocks: 'c' };
    expect(quote('PORT=1 node x.js', 'PORT', metadata)).toBe('npm start:\n```\nPORT=1 node x.js\n```');
  });

  it('quotes an item behind the sentence that announces its list', () => {
    const text = 'Some text.\n\nThe parts are:\n\na wheel\n\na bell\n\nThat is all.';
    expect(quote(text, 'bell', { blocks: 'ppiip' })).toBe('The parts are:\n- a bell');
    expect(quote(text, 'parts', { blocks: 'ppiip' })).toBe('The parts are:\n- a wheel\n- a bell');
    expect(quote('To start it:\n\nnpm start', 'To', { blocks: 'ic' })).toBe(
      'To start it:\n```\nnpm start\n```',
    );
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
