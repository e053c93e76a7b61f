import type { RetrievedDocument } from '#platform/contracts';
import type { Reader } from '#engine/encoders';
import { describe, expect, it } from 'vitest';
import { evidenceNames } from './evidence.js';
import { ExtractiveAnswerer } from './extractive-answerer.js';
import type { Fusion, Judgement } from './rank-sentences.js';

const question = 'Where did the ferry stop?';

/** The logit of the reader alone orders the sentences; each answer is the closest passage. */
const judgement: Judgement = {
  rank: { weights: evidenceNames.map((name) => Number(name === 'reader')), bias: 0 },
  confidence: { weights: [...evidenceNames, 'logit', 'lead'].map(() => 0), bias: 0 },
  thresholds: { near: 0, closest: 0, answer: 1 },
  elsewhere: 0.5,
};
const fusion: Fusion = { evidence: [...evidenceNames], prose: judgement, outlined: judgement };

/** Reads with the given logits, and counts what it reads. */
function answererOf(logits: Readonly<Record<string, number>>, used = fusion) {
  const read: string[] = [];
  const reader: Reader = {
    info: { id: 'reader' } as Reader['info'],
    directory: '',
    read: (_question, sentences) => {
      read.push(...sentences.map(({ text }) => text));
      return Promise.resolve({ scores: sentences.map(({ text }) => logits[text] ?? 0), promptTokens: 1 });
    },
    close: () => Promise.resolve(),
  };
  const options = {
    reader,
    fusion: used,
    noAnswer: 'Nothing.',
    maxPassages: 5,
    tokenize: (text: string) => [text],
  };
  return { answerer: new ExtractiveAnswerer(options), read };
}

const { signal } = new AbortController();

async function sayOf(chunks: AsyncIterable<{ text: string }>): Promise<string> {
  let said = '';
  for await (const { text } of chunks) said += text;
  return said;
}

/** The answer to the question from passages of one document. */
function answer(
  answerer: ExtractiveAnswerer,
  texts: readonly string[],
  metadata: Record<string, unknown> = {},
  asked = question,
): Promise<string> {
  const documents = texts.map((text, index): RetrievedDocument => ({
    id: String(index),
    text,
    score: 0.5,
    metadata,
  }));
  return sayOf(answerer.answer([{ role: 'user', content: asked }], { documents }, {}, signal));
}

const inPort = 'The ferry stopped in the port.';
const inFog = 'The ferry stopped in fog.';
const atIsland = 'A ferry stopped at the island.';

describe('ExtractiveAnswerer', () => {
  it('shows one closest passage where the others have not a word of the question', async () => {
    const foreign = 'Bolts are kept in the cellar.';
    const { answerer } = answererOf({ [inPort]: 3, [foreign]: 2.9 });
    expect(await answer(answerer, [inPort, foreign])).toBe(`Closest passage: ${inPort} [1]`);
  });

  it('shows the closest passages where it is not sure, each with the name of its document', async () => {
    const { answerer } = answererOf({ [inPort]: 3, [inFog]: 1, [atIsland]: 0.8 });
    expect(await answer(answerer, [`${inPort} ${inFog}`, atIsland])).toBe(
      `Closest passages:\n\n${inPort} ${inFog} [1]\n\n${atIsland} [2]`,
    );
    const documents = [`${inPort} ${inFog}`, atIsland].map((text, index) => ({
      id: String(index),
      text,
      score: 1,
      metadata: { title: `Book ${index}` },
    }));
    const said = await sayOf(
      answerer.answer([{ role: 'user', content: question }], { documents }, {}, signal),
    );
    expect(said).toContain(`From “Book 0”: ${inPort}`);
    expect(said).toContain(`From “Book 1”: ${atIsland}`);
  });

  it('shows one passage where it is sure, and two where the question compares', async () => {
    const sure = { ...judgement, thresholds: { near: 0, closest: 0, answer: 0 } };
    const { answerer } = answererOf({ [inPort]: 3 }, { ...fusion, prose: sure, outlined: sure });
    expect(await answer(answerer, [inPort, atIsland])).toBe(`${inPort} [1]`);
    const messages = [{ role: 'user' as const, content: 'Compare the stops of the ferry' }];
    const documents = [inPort, atIsland].map((text, index) => ({
      id: String(index),
      text,
      score: 1,
      metadata: {},
    }));
    expect(await sayOf(answerer.answer(messages, { documents }, {}, signal))).toBe(
      `${inPort} [1]\n\n${atIsland} [2]`,
    );
  });

  it('answers a negated question never with the sentence that affirms it', async () => {
    const affirmed = 'The ferry stopped in the port.';
    const denied = 'The ferry did not stop in Crete.';
    const sure = { ...judgement, thresholds: { near: 0, closest: 0, answer: 0 } };
    const { answerer } = answererOf(
      { [affirmed]: 3, [denied]: 1 },
      { ...fusion, prose: sure, outlined: sure },
    );
    const asked = 'Where did the ferry not stop?';
    expect(await answer(answerer, [affirmed, denied], {}, asked)).toBe(`${denied} [1]`);
    expect(await answer(answerer, [affirmed], {}, asked)).toBe(`Nothing.\n\nClosest passage: ${affirmed}`);
    expect(await answer(answerer, [affirmed, denied], {}, 'Where did the ferry stop?')).toBe(
      `${affirmed} [1]`,
    );
  });

  it('computes an answer from the whole table around a found row, and cites a row', async () => {
    const { answerer } = answererOf({});
    const chunk = (index: number, rows: string[]) => ({
      id: `c${index}`,
      text: rows.join('\n\n'),
      score: 1,
      metadata: {
        document_id: 'd',
        chunk_index: index,
        filename: 'orders.csv',
        blocks: 'r'.repeat(rows.length),
      },
    });
    const [first, found] = [
      chunk(0, ['Order: O-1; Status: open', 'Order: O-2; Status: paid']),
      chunk(1, ['Order: O-3; Status: paid', 'Order: O-4; Status: open']),
    ] as const;
    const answered = async (asked: string, neighbours?: (typeof first)[]) => {
      const messages = [{ role: 'user' as const, content: asked }];
      const parts = [];
      for await (const part of answerer.answer(messages, { documents: [found], neighbours }, {}, signal))
        parts.push(part);
      return parts.at(-1)!;
    };
    const whole = await answered('Which orders are not paid?', [first]);
    expect(whole.text).toMatch(/^\*\*O-1, O-4\*\* – 2 of 4 rows/);
    expect(whole.certainty).toMatchObject({ kind: 'answer' });
    expect(whole.citations).toMatchObject([
      { documentId: 'c0', quote: 'Order: O-1; Status: open', passage: 1 },
    ]);
    expect((await answered('How many orders are paid? Answer with the number only.', [first])).text).toBe(
      '2 [1]',
    );
    // Two rows are too small a part of the table to count in.
    expect((await answered('How many orders are paid?')).text).not.toContain('**');
  });

  it('computes over the rows of a table beside prose that is not sure', async () => {
    const atLeast = (answer: number) => ({
      ...judgement,
      thresholds: { near: 0, closest: 0, answer },
      confidence: { ...judgement.confidence, bias: 0 },
    });
    const { answerer } = answererOf(
      { [inPort]: 3 },
      { ...fusion, prose: atLeast(0.4), outlined: atLeast(0.4) },
    );
    const rows = ['Ferry: Ada; Price: 12', 'Ferry: Bob; Price: 30', 'Ferry: Cid; Price: 20'];
    const metadata = { document_id: 'd', chunk_index: 0, filename: 'ferries.csv', blocks: 'rrr' };
    const documents = [
      { id: '0', text: inPort, score: 1, metadata: {} },
      { id: '1', text: rows.join('\n\n'), score: 1, metadata },
    ];
    const ask = (content: string) =>
      sayOf(answerer.answer([{ role: 'user', content }], { documents, neighbours: [] }, {}, signal));
    expect(await ask('Which ferry is the most expensive?')).toMatch(/^\*\*Bob\*\*/);
    expect(await ask('Where did the ferry stop?')).toContain(inPort);
  });

  it('begins a table below the name of its document', async () => {
    const { answerer } = answererOf({ [inPort]: 3 });
    const documents = [
      { id: '0', text: inPort, score: 1, metadata: { title: 'Log' } },
      { id: '1', text: 'ferry: Nora; stop: island', score: 1, metadata: { title: 'Stops', blocks: 'r' } },
    ];
    const said = await sayOf(
      answerer.answer([{ role: 'user', content: question }], { documents }, {}, signal),
    );
    expect(said).toContain('From “Stops”:\n\n| ferry | stop |\n');
  });

  it.each([
    ['near', { near: 0, closest: 1, answer: 1 }],
    ['closest', { near: 0, closest: 0, answer: 1 }],
  ])(
    'refuses with what is missing and the closest passage, without a citation: %s',
    async (_name, thresholds) => {
      const near = { ...judgement, thresholds };
      const { answerer } = answererOf({ [inPort]: 3 }, { ...fusion, prose: near, outlined: near });
      const documents = [{ id: '0', text: inPort, score: 1, metadata: { filename: 'log.txt' } }];
      const messages = [{ role: 'user' as const, content: 'Where did the ferry of Crete stop?' }];
      const chunks = answerer.answer(messages, { documents }, {}, signal);
      let said = '';
      for await (const { text, citations, certainty } of chunks) {
        said += text;
        expect(citations).toBeUndefined();
        expect(certainty).toMatchObject({ kind: 'none' });
      }
      expect(said).toBe(
        `Nothing. “Crete” is not mentioned in the documents that were found.\n\nClosest passage, in “log”: ${inPort}`,
      );
    },
  );

  it('reads code only where the question asks for it', async () => {
    const code = 'curl ferry/stop -d where';
    const documents = [{ id: '0', text: `${code}\n\n${inPort}`, score: 1, metadata: { blocks: 'cp' } }];
    const { answerer, read } = answererOf({ [code]: 9 });
    await sayOf(answerer.answer([{ role: 'user', content: question }], { documents }, {}, signal));
    expect(read).toEqual([inPort]);
    const asked = [{ role: 'user' as const, content: 'Which command stops the ferry?' }];
    expect(await sayOf(answerer.answer(asked, { documents }, {}, signal))).toContain(code);
  });

  it('quotes the beginnings of attached files when asked for them as a whole', async () => {
    const { answerer, read } = answererOf({});
    const asked = 'What is in this file?';
    const texts = [`${inPort} ${inFog} ${atIsland}`, atIsland];
    const said = await answer(answerer, texts, { attached: true }, asked);
    expect(said).toBe(`${inPort} ${inFog} [1]\n\n${atIsland} [2]`);
    expect(read).toEqual([]);
    await answer(answerer, texts, {}, asked);
    expect(read).not.toEqual([]);
  });

  it('reads no more than the sentences with most of the words', async () => {
    const others = Array.from({ length: 30 }, (_, index) => `Bird ${index} sang loudly.`);
    const { answerer, read } = answererOf({ [inPort]: 3 });
    await answer(answerer, [...others, inPort].slice(-5));
    expect(read).toContain(inPort);
    const many = answererOf({ [inPort]: 3 });
    expect(await answer(many.answerer, [[...others, inPort].join(' ')])).toContain(inPort);
    expect(many.read).toHaveLength(12);
  });

  it('judges passages below headings by weights of their own', async () => {
    const outlined = { ...judgement, thresholds: { near: 1, closest: 1, answer: 1 } };
    const { answerer } = answererOf({ [inPort]: 3 }, { ...fusion, outlined });
    expect(await answer(answerer, [inPort])).toBe(`Closest passage: ${inPort} [1]`);
    expect(await answer(answerer, [inPort], { title: 'Ferries', heading: 'Ferries > Stops' })).toBe(
      'Nothing.',
    );
  });

  it('adds a block of another passage to several items, where it is not sure', async () => {
    const items = { title: 'Ferries', blocks: 'ii' };
    const { answerer } = answererOf({ 'stop: port': 3, 'stop: fog': 2.5, [atIsland]: 1 });
    const documents = [
      { id: '0', text: 'stop: port\n\nstop: fog', score: 1, metadata: items },
      { id: '1', text: atIsland, score: 1, metadata: {} },
    ];
    let said = '';
    const messages = [{ role: 'user' as const, content: 'Which stops are used?' }];
    for await (const { text } of answerer.answer(messages, { documents }, {}, new AbortController().signal))
      said += text;
    for (const text of ['stop: port', 'stop: fog', atIsland]) expect(said).toContain(text);
  });

  it.each([
    ['the ids of the prompt, where it asks for them', { asksForCitations: true }, 3, `${inPort} [7]`],
    ['no markers', { asksForCitations: false }, 3, inPort],
    ["the prompt's refusal", { asksForCitations: false, refusal: 'Not there.' }, -1, 'Not there.'],
  ])('answers a prompt with %s', async (_name, rules, logit, expected) => {
    const sure = { ...judgement, thresholds: { near: 0, closest: 0, answer: 0 } };
    const never = { ...judgement, thresholds: { near: 1, closest: 1, answer: 1 } };
    const used = logit < 0 ? never : sure;
    const { answerer } = answererOf({ [inPort]: logit }, { ...fusion, prose: used, outlined: used });
    const prompt = { question, passages: [{ id: '7', text: inPort }], ...rules };
    const chunks = answerer.answerPrompt(
      [{ role: 'user', content: question }],
      prompt,
      {},
      new AbortController().signal,
    );
    let said = '';
    for await (const { text, citations = [] } of chunks) {
      said += text;
      expect(citations).toEqual([]);
    }
    expect(said).toBe(expected);
  });
});
