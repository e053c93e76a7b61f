import type { ChatMessage } from '#contracts';
import { describe, expect, it } from 'vitest';
import {
  buildGroundedPrompt,
  fillChatTemplate,
  fitConversation,
  fitDocuments,
  selectPassages,
} from './grounded-prompt.js';

const settings = {
  userPrompt: '### Search results:\n{context}\n\n### Question: {question}',
  maxPassages: 3,
  maxContextWords: 120,
  noAnswer: 'No idea.',
};
const documents = ['Tea is\nhot.', 'Braces like {question} stay.'].map((text, index) => ({
  id: `d${index}`,
  text,
  score: 1,
  metadata: {},
}));
const user = (content: string): ChatMessage => ({ role: 'user', content });
const assistant = (content: string): ChatMessage => ({ role: 'assistant', content });
const system = (content: string): ChatMessage => ({ role: 'system', content });

describe('buildGroundedPrompt', () => {
  it('writes passages and question in the place of the last user turn', () => {
    const messages = [system('Be brief.'), user('Hi'), assistant('Hello'), user('Is {context} hot?')];
    const prompt = buildGroundedPrompt({ messages, documents }, settings);
    expect(prompt.messages).toEqual([
      ...messages.slice(0, 3),
      user(
        '### Search results:\n[1] Tea is hot.\n[2] Braces like {question} stay.\n\n### Question: Is {context} hot?',
      ),
    ]);
    expect(prompt.question).toBe('Is {context} hot?');
    expect(prompt.passages.map(({ documentId }) => documentId)).toEqual(['d0', 'd1']);
  });

  it('names the file of an attached passage', () => {
    const metadata = { attached: true, filename: 'tea\ntime.txt' };
    const attached = [{ ...documents[0]!, metadata }, documents[1]!];
    const prompt = buildGroundedPrompt({ messages: [user('Hot?')], documents: attached }, settings);
    expect(prompt.messages[0]?.content).toContain('[1] (attached file tea time.txt) Tea is hot.\n[2] Braces');
    expect(prompt.passages[0]?.text).toBe('Tea is hot.');
  });

  it('puts the passages before the first question where the profile has a prompt for further ones', () => {
    const messages = [user('First?'), assistant('Yes.'), user('Second?')];
    const followUpPrompt = '### Question: {question}';
    const prompt = buildGroundedPrompt({ messages, documents }, { ...settings, followUpPrompt });
    expect(prompt.messages.map(({ content }) => content)).toEqual([
      expect.stringMatching(/^### Search results:[^]*### Question: First\?$/),
      'Yes.',
      '### Question: Second?',
    ]);
    expect(prompt.question).toBe('Second?');
    const single = buildGroundedPrompt(
      { messages: messages.slice(2), documents },
      { ...settings, followUpPrompt },
    );
    expect(single.messages[0]?.content).toMatch(/^### Search results:[^]*### Question: Second\?$/);
  });

  it("puts the profile's system prompt before the caller's", () => {
    const request = { messages: [system('Be brief.'), user('q')], documents };
    const { messages } = buildGroundedPrompt(request, { ...settings, systemPrompt: 'Cite.' });
    expect(messages.map(({ role }) => role)).toEqual(['system', 'user']);
    expect(messages[0]?.content).toBe('Cite.\n\nBe brief.');
  });

  it("takes the caller's template", () => {
    const request = { messages: [user('q')], documents, chat_template: '{question}? {context}' };
    expect(buildGroundedPrompt(request, settings).messages[0]?.content).toMatch(/^q\? \[1] Tea/);
    expect(fillChatTemplate([user('q')], 'Q: {question} {context}.')).toEqual([user('Q: q .')]);
  });

  it('refuses a conversation without a question and a template without a place for it', () => {
    expect(() => buildGroundedPrompt({ messages: [system('a')], documents }, settings)).toThrow(
      expect.objectContaining({ param: 'messages' }),
    );
    const request = { messages: [user('q')], documents, chat_template: '{context}' };
    expect(() => buildGroundedPrompt(request, settings)).toThrow(
      expect.objectContaining({ param: 'chat_template' }),
    );
  });
});

describe('fitConversation', () => {
  const count = (messages: readonly ChatMessage[]) => Promise.resolve(messages.length);
  const messages = [
    system('s'),
    user('1'),
    assistant('a'),
    user('2'),
    assistant('b'),
    assistant('c'),
    user('3'),
  ];

  it('drops the oldest exchanges first', async () => {
    expect(await fitConversation(messages, 7, count)).toEqual(messages);
    expect(await fitConversation(messages, 6, count)).toEqual([messages[0], ...messages.slice(3)]);
    expect(await fitConversation(messages, 4, count)).toEqual([messages[0], messages[6]]);
  });

  it('never drops the question', async () => {
    expect(await fitConversation(messages, 0, count)).toEqual([messages[0], messages[6]]);
  });

  it('counts nothing where there is nothing to drop', async () => {
    const refuse = () => Promise.reject(new Error('not needed'));
    expect(await fitConversation([user('1')], 0, refuse)).toEqual([user('1')]);
  });
});

describe('fitDocuments', () => {
  const documents = ['a b c', 'd e', 'f'].map((text, index) => ({
    id: `d${index}`,
    text,
    score: 1,
    metadata: {},
  }));
  const fitInto = (words: number) =>
    fitDocuments(documents, (shown) =>
      Promise.resolve(
        shown
          .map(({ text }) => text)
          .join(' ')
          .split(' ').length <= words,
      ),
    );

  it.each([
    [6, ['a b c', 'd e', 'f']],
    [5, ['a b c', 'd e']],
    [3, ['a b c']],
    [2, ['a b']],
    [0, ['a']],
  ])('keeps the first documents that fit into %i words', async (words, texts) => {
    expect((await fitInto(words)).map(({ text }) => text)).toEqual(texts);
  });
});

describe('select passages', () => {
  const documents = ['One two three. Four five six.', 'Seven eight. Nine ten.', 'Eleven.'].map(
    (text, index) => ({
      id: `d${index + 1}`,
      text,
      score: 1,
      metadata: {},
    }),
  );

  const select = (maxPassages: number, maxContextWords: number, from = documents) =>
    selectPassages(from, { maxPassages, maxContextWords }).map(({ number, documentId, text }) => [
      number,
      documentId,
      text,
    ]);

  describe('selectPassages', () => {
    it('takes whole passages in order', () => {
      expect(select(2, 100)).toEqual([
        [1, 'd1', 'One two three. Four five six.'],
        [2, 'd2', 'Seven eight. Nine ten.'],
      ]);
    });

    it('cuts the last one at the end of a sentence', () => {
      expect(select(3, 9)).toEqual([
        [1, 'd1', 'One two three. Four five six.'],
        [2, 'd2', 'Seven eight.'],
      ]);
      // No sentence of the second fits, and the third does not jump the queue.
      expect(select(3, 7)).toEqual([[1, 'd1', 'One two three. Four five six.']]);
    });

    it('always takes something of the first', () => {
      expect(select(3, 2)).toEqual([[1, 'd1', 'One two']]);
    });

    it('skips documents without text', () => {
      const blank = { id: 'blank', text: ' \n', score: 1, metadata: {} };
      expect(select(1, 9, [blank, ...documents])).toEqual([[1, 'd1', 'One two three. Four five six.']]);
      expect(select(1, 9, [blank])).toEqual([]);
    });
  });
});
