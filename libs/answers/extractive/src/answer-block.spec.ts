import { describe, expect, it } from 'vitest';
import { blockOf, blockOfSeveral } from './answer-block.js';
import { candidatesOf } from './evidence.js';
import { readPassages } from './sentence.js';

function block(text: string, chosen: string, metadata: Record<string, unknown> = {}, question = '') {
  const passages = readPassages([{ id: 'd', text, score: 1, metadata }]);
  const candidate = candidatesOf(question, passages).find(({ sentence }) => sentence.text.includes(chosen));
  return blockOf(candidate!, passages[0]!, question);
}

function shown(...args: Parameters<typeof block>) {
  const { lead, text } = block(...args);
  return lead + text;
}

const words = (count: number) => `W${Array.from({ length: count }, () => 'ord').join(' w')}.`;

describe('blockOf', () => {
  it('shows the sentences around the answering one, and says where that one is', () => {
    const { text, answer, quote } = block('Tea is hot. Ice is\ncold. Air is thin.', 'Ice');
    expect(text).toBe('Tea is hot. Ice is cold. Air is thin.');
    expect(quote).toBe('Ice is cold.');
    expect(text.slice(answer.start, answer.end)).toBe(quote);
  });

  it('sets paragraphs apart', () => {
    expect(shown('Tea is hot.\n\nIce is cold.', 'Ice')).toBe('Tea is hot.\n\nIce is cold.');
  });

  it('shows a short section with a list as a whole, and a longer one in part', () => {
    const metadata = { title: 'Guide', heading: 'Guide > Repair', blocks: 'piip' };
    const text = ['Stop the mill:', 'turn the key', 'close the gate', 'Do not open it before.'].join('\n\n');
    expect(shown(text, 'Do not', metadata)).toBe(
      'Repair: Stop the mill:\n- turn the key\n- close the gate\n\nDo not open it before.',
    );
    const long = ['Stop the mill:', 'turn the key', words(90), 'Do not open it before.'].join('\n\n');
    expect(shown(long, 'Do not', metadata)).toBe('Do not open it before.');
  });

  it('ends before a heading without a mark', () => {
    const text = `Tea is hot.\n\nLighthouses\n\nThe towers have a double wall, between which the air moves.`;
    expect(shown(text, 'Tea')).toBe('Tea is hot.');
  });

  it('begins with the heading above, where several sections have the same', () => {
    const chunk = (id: string, version: string) => ({
      id,
      text: 'The mill stopped at night.\n\nThe bell rang twice.',
      score: 1,
      metadata: { title: 'Notes', heading: `Notes > ${version} > Fixed`, blocks: 'ii' },
    });
    const passages = readPassages([chunk('a', 'Spring'), chunk('b', 'Autumn')]);
    const [candidate] = candidatesOf('What was fixed?', passages);
    expect(blockOf(candidate!, passages[0]!, '').lead).toBe('Spring – Fixed:\n');
  });

  it('begins shortly before the answering sentence, and ends within the limit of words', () => {
    expect(shown(`${words(40)} Tea is hot. ${words(40)}`, 'Tea')).toBe(`Tea is hot. ${words(40)}`);
    expect(shown(`${words(30)} Tea is hot. ${words(40)} ${words(40)}`, 'Tea')).toBe(
      `${words(30)} Tea is hot. ${words(40)}`,
    );
  });

  it('begins with the sentence that the answering one refers to, even if it is long', () => {
    const long = `Zorvex is a broker with ${words(40)}`;
    expect(shown(`Before. ${long} It was released in 2031.`, '2031')).toBe(
      `${long} It was released in 2031.`,
    );
  });

  it('begins with the heading where nothing stands before', () => {
    const metadata = { title: 'Guide', heading: 'Guide > 2.1 Zorvex' };
    expect(shown('It was released in 2031.', '2031', metadata)).toBe('Zorvex: It was released in 2031.');
    expect(shown('It was released in 2031. More.', '2031')).toBe('It was released in 2031. More.');
  });

  it('begins with the term that the passage explains, and with what it means', () => {
    const metadata = { title: 'Mill', heading: 'Mill > Options > --grain=KIND' };
    const text = 'Grinds this kind of grain. Given twice, the last one counts.';
    expect(shown(text, 'twice', metadata)).toBe(`--grain=KIND: ${text}`);
    expect(shown('--grain=KIND grinds.', 'grinds', metadata)).toBe('--grain=KIND grinds.');
  });

  it('begins with a heading that has words of the question which the sentence lacks', () => {
    const metadata = { title: 'Guide', heading: 'Guide > Backups' };
    const copy = 'Copy the directory.';
    expect(shown(copy, 'Copy', metadata, 'How do I make backups?')).toBe(`Backups: ${copy}`);
    expect(shown(copy, 'Copy', metadata, 'What is to be copied?')).toBe(copy);
    const asked = { title: 'FAQ', heading: 'FAQ > How do I make backups?' };
    expect(shown(copy, 'Copy', asked, 'How do I make backups?')).toBe(copy);
    expect(shown(copy, 'Copy', { title: 'Backups' }, 'How do I make backups?')).toBe(copy);
  });

  it('shows code only where the question asks for it', () => {
    const metadata = { title: 'Guide', heading: 'Guide > Backups', blocks: 'ppcp' };
    const text = 'Other text.\n\nStop all. Copy the data then:\n\ncp -a data copy\n\nThat is it.';
    expect(shown(text, 'Stop', metadata, 'How do I stop?')).toBe(
      'Other text.\n\nStop all. Copy the data then:\n```\ncp -a data copy\n```\nThat is it.',
    );
    expect(shown(text, 'Stop', metadata, 'Who stops all?')).toBe('Other text.\n\nStop all.');
    const code = 'Start it:\n\nnpm ci\n\nnpm start # all\n\nThen ask.';
    expect(shown(code, 'npm start', { blocks: 'pccp' }, 'Which command starts it?')).toBe(
      'Start it:\n```\nnpm ci\n\nnpm start # all\n```\nThen ask.',
    );
    expect(shown('a ``` b', 'b', { blocks: 'c' })).toBe('````\na ``` b\n````');
    const titled = { title: 'Guide', heading: 'Guide > npm start', blocks: 'c' };
    expect(shown('PORT=1 node x.js', 'PORT', titled)).toBe('npm start:\n```\nPORT=1 node x.js\n```');
  });

  it('shows an item with its whole list, after the sentence that announces it or its heading', () => {
    const text = 'Some text.\n\nThe parts are:\n\na wheel\n\na bell\n\nThat is all.';
    expect(shown(text, 'bell', { blocks: 'ppiip' })).toBe('The parts are:\n- a wheel\n- a bell');
    expect(shown(text, 'parts', { blocks: 'ppiip' })).toBe(
      'Some text.\n\nThe parts are:\n- a wheel\n- a bell\n\nThat is all.',
    );
    const headed = { title: 'Bike', heading: 'Bike > Parts', blocks: 'ii' };
    expect(shown('a wheel\n\na bell', 'bell', headed)).toBe('Parts:\n- a wheel\n- a bell');
    expect(shown('To start it:\n\nnpm start', 'To', { blocks: 'ic' }, 'How do I start it?')).toBe(
      'To start it:\n```\nnpm start\n```',
    );
  });

  it('shows a row alone, and all rows of the passage for a question over rows', () => {
    const text = 'Prices:\n\nplan: A; price: 1\n\nplan: B; price: 2\n\nEnd.';
    const table = (...rows: string[]) => ['| plan | price |', '| --- | --- |', ...rows].join('\n');
    expect(shown(text, 'B', { blocks: 'prrp' }, 'What does B cost?')).toBe(table('| B | 2 |'));
    expect(shown(text, 'B', { blocks: 'prrp' }, 'Which plan is the cheapest?')).toBe(
      table('| A | 1 |', '| B | 2 |'),
    );
  });

  it('says how many items a list has beyond those that fit', () => {
    const items = Array.from({ length: 6 }, (_, index) => `Item ${index} ${words(18)}`);
    const text = ['The steps are:', ...items, 'The end.'].join('\n\n');
    const metadata = { blocks: 'piiiiiip' };
    const list = (from: number, to: number) => items.slice(from, to).map((item) => `- ${item}`);
    const whole = ['The steps are:', ...list(0, 4), '- and 2 more'].join('\n');
    expect(shown(text, 'Item 1', metadata)).toBe(whole);
    expect(shown(text, 'The steps', metadata)).toBe(whole);
    expect(shown(text, 'Item 5', metadata)).toBe(`The steps are:\n- ${items[5]}`);
  });

  it('leaves out a list of which only a part fits, where the answer stands before it', () => {
    const items = Array.from({ length: 6 }, () => words(20));
    const text = ['Tea is hot. The steps are:', ...items].join('\n\n');
    expect(shown(text, 'Tea', { blocks: 'piiiiii' })).toBe('Tea is hot.');
  });
});

describe('a block at the border of chunks', () => {
  const stored = (index: number, text: string, metadata = {}) => ({
    id: `c${index}`,
    text,
    score: 1,
    metadata: { document_id: 'd', chunk_index: index, ...metadata },
  });
  const around = (texts: ReturnType<typeof stored>[], found: number, chosen: string) => {
    const neighbours = texts.filter((_text, index) => index !== found);
    const passages = readPassages([texts[found]!], neighbours);
    const candidate = candidatesOf('', passages).find(({ sentence }) => sentence.text.includes(chosen));
    const { lead, text, documentId } = blockOf(candidate!, passages[0]!, '');
    return { text: lead + text, documentId };
  };

  it('goes on in the next chunk, within the same paragraph', () => {
    const texts = [
      stored(0, 'The mill was built in 1831.'),
      stored(1, 'It has two wheels.', { continues: true }),
      stored(2, 'The bakery is new.'),
    ];
    expect(around(texts, 0, '1831')).toEqual({
      text: 'The mill was built in 1831. It has two wheels.\n\nThe bakery is new.',
      documentId: 'c0',
    });
    expect(around(texts, 1, 'wheels').text).toBe(
      'The mill was built in 1831. It has two wheels.\n\nThe bakery is new.',
    );
  });

  it('has the whole list with the sentence that announces it', () => {
    const texts = [
      stored(0, 'You need:\n\nflour', { blocks: 'pi' }),
      stored(1, 'water\n\nsalt', { blocks: 'ii' }),
    ];
    expect(around(texts, 1, 'salt').text).toBe('You need:\n- flour\n- water\n- salt');
  });
});

describe('blockOfSeveral', () => {
  it('shows rows as a table', () => {
    const rows = 'port: 1; service: a\n\nport: 2; service: b|c';
    const [passage] = readPassages([{ id: 'd', text: rows, score: 1, metadata: { blocks: 'rr' } }]);
    const { text, quote, answer } = blockOfSeveral(passage!.sentences, passage!);
    expect(text).toBe('| port | service |\n| --- | --- |\n| 1 | a |\n| 2 | b\\|c |');
    expect(quote).toBe('port: 1; service: a');
    expect(answer).toEqual({ start: 0, end: text.length });
  });

  it('shows a row of several sentences once', () => {
    const rows = 'plan: A; note: Good. Cheap.\n\nplan: B; note: Better.';
    const [passage] = readPassages([{ id: 'd', text: rows, score: 1, metadata: { blocks: 'rr' } }]);
    expect(passage!.sentences.length).toBeGreaterThan(2);
    expect(blockOfSeveral(passage!.sentences, passage!).text.split('\n').slice(2)).toEqual([
      '| A | Good. Cheap. |',
      '| B | Better. |',
    ]);
  });
});
