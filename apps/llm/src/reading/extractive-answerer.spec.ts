import type { RetrievedDocument } from '#contracts';
import type { Reader } from '#encoders';
import { describe, expect, it } from 'vitest';
import { evidenceNames } from './evidence.js';
import { ExtractiveAnswerer } from './extractive-answerer.js';
import type { Fusion, Judgement } from './rank-sentences.js';

const question = 'Where did the ferry stop?';

/** The logit of the reader alone orders the sentences; no answer is sure. */
const judgement: Judgement = {
  rank: { weights: evidenceNames.map((name) => Number(name === 'reader')), bias: 0 },
  confidence: { weights: [...evidenceNames, 'logit', 'lead'].map(() => 0), bias: 0 },
  thresholds: { answer: 0, doubtful: 0, sure: 1 },
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

async function answer(
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
  let said = '';
  const messages = [{ role: 'user' as const, content: asked }];
  for await (const { text } of answerer.answer(messages, documents, {}, new AbortController().signal))
    said += text;
  return said;
}

const inPort = 'The ferry stopped in the port.';
const inFog = 'The ferry stopped in fog.';
const atIsland = 'A ferry stopped at the island.';

describe('ExtractiveAnswerer', () => {
  it.each([
    ['another passage, where it is nearly as likely', 0.8, atIsland],
    ['the same passage, where the other is less likely', 0.4, inFog],
  ])('takes the second quote of an unsure answer from %s', async (_name, logit, second) => {
    const { answerer } = answererOf({ [inPort]: 3, [inFog]: 1, [atIsland]: logit });
    const said = await answer(answerer, [`${inPort} ${inFog}`, atIsland]);
    expect(said).toContain(inPort);
    expect(said).toContain(second);
    expect([inFog, atIsland].filter((text) => said.includes(text))).toEqual([second]);
  });

  it('quotes the beginnings of attached files when asked for them as a whole', async () => {
    const { answerer, read } = answererOf({});
    const asked = 'What is in this file?';
    const texts = [`${inPort} ${inFog} ${atIsland}`, atIsland];
    const said = await answer(answerer, texts, { attached: true }, asked);
    expect(said).toBe(`${inPort} ${inFog} [1] ${atIsland} [2]`);
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

  it('judges passages below headings by weights of their own, and quotes three where it doubts', async () => {
    const outlined = { ...judgement, thresholds: { answer: 0, doubtful: 0.9, sure: 1 } };
    const { answerer } = answererOf({ [inPort]: 3, [inFog]: 2, [atIsland]: 1 }, { ...fusion, outlined });
    const texts = [inPort, inFog, atIsland];
    const said = await answer(answerer, texts);
    expect(texts.filter((text) => said.includes(text))).toEqual([inPort, inFog]);
    const below = await answer(answerer, texts, { title: 'Ferries', heading: 'Ferries > Stops' });
    expect(texts.filter((text) => below.includes(text))).toEqual(texts);
  });

  it('adds a quote of another passage to several items, where it is not sure', async () => {
    const items = { title: 'Ferries', blocks: 'ii' };
    const { answerer } = answererOf({ 'stop: port': 3, 'stop: fog': 2.5, [atIsland]: 1 });
    const documents = [
      { id: '0', text: 'stop: port\n\nstop: fog', score: 1, metadata: items },
      { id: '1', text: atIsland, score: 1, metadata: {} },
    ];
    let said = '';
    const messages = [{ role: 'user' as const, content: 'Which stops are used?' }];
    for await (const { text } of answerer.answer(messages, documents, {}, new AbortController().signal))
      said += text;
    for (const text of ['stop: port', 'stop: fog', atIsland]) expect(said).toContain(text);
  });

  it.each([
    ['the ids of the prompt, where it asks for them', { asksForCitations: true }, 3, `${inPort} [7]`],
    ['no markers', { asksForCitations: false }, 3, inPort],
    ["the prompt's refusal", { asksForCitations: false, refusal: 'Not there.' }, -1, 'Not there.'],
  ])('answers a prompt with %s', async (_name, rules, logit, expected) => {
    const sure = { ...judgement, thresholds: { answer: 0, doubtful: 0, sure: 0 } };
    const never = { ...judgement, thresholds: { answer: 1, doubtful: 1, sure: 1 } };
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
