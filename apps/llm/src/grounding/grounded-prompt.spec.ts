import type { ChatMessage } from '#platform/contracts';
import { describe, expect, it } from 'vitest';
import { buildGroundedPrompt, fillChatTemplate, fitConversation } from './grounded-prompt.js';
import { passagesWithin } from './passages.js';

const settings = {
  userPrompt: '### Search results:\n{context}\n\n### Question: {question}',
  context: 'lines' as const,
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
const passages = passagesWithin(1_000, { documents, question: '' }, settings);
const user = (content: string): ChatMessage => ({ role: 'user', content });
const assistant = (content: string): ChatMessage => ({ role: 'assistant', content });
const system = (content: string): ChatMessage => ({ role: 'system', content });

describe('buildGroundedPrompt', () => {
  it('writes passages and question in the place of the last user turn', () => {
    const messages = [system('Be brief.'), user('Hi'), assistant('Hello'), user('Is {context} hot?')];
    const prompt = buildGroundedPrompt({ messages, passages }, settings);
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
    const prompt = buildGroundedPrompt(
      {
        messages: [user('Hot?')],
        passages: passagesWithin(99, { documents: attached, question: '' }, settings),
      },
      settings,
    );
    expect(prompt.messages[0]?.content).toContain('[1] (attached file tea time.txt) Tea is hot.\n[2] Braces');
    expect(prompt.passages[0]?.text).toBe('Tea is hot.');
  });

  it('writes blocks with their labels, apart from each other', () => {
    const metadata = { title: 'Tea', heading: 'Tea > Heat', filename: 'tea.md' };
    const found = { documents: [{ ...documents[0]!, metadata }, documents[1]!], question: 'Hot?' };
    const blocks = passagesWithin(1_000, found, { ...settings, context: 'blocks' });
    const prompt = buildGroundedPrompt({ messages: [user('Hot?')], passages: blocks }, settings);
    expect(prompt.messages[0]?.content).toContain(
      '[1] Tea › Heat (tea.md)\nTea is\nhot.\n\n[2] Braces like {question} stay.\n\n### Question: Hot?',
    );
  });

  it('puts the passages before the first question where the profile has a prompt for further ones', () => {
    const messages = [user('First?'), assistant('Yes.'), user('Second?')];
    const followUpPrompt = '### Question: {question}';
    const prompt = buildGroundedPrompt({ messages, passages }, { ...settings, followUpPrompt });
    expect(prompt.messages.map(({ content }) => content)).toEqual([
      expect.stringMatching(/^### Search results:[^]*### Question: First\?$/),
      'Yes.',
      '### Question: Second?',
    ]);
    expect(prompt.question).toBe('Second?');
    const single = buildGroundedPrompt(
      { messages: messages.slice(2), passages },
      { ...settings, followUpPrompt },
    );
    expect(single.messages[0]?.content).toMatch(/^### Search results:[^]*### Question: Second\?$/);
  });

  it("puts the caller's system turns before the profile's text and the instructions", () => {
    const request = { messages: [system('Be brief.'), user('q'), system('Be kind.')], passages };
    const { messages } = buildGroundedPrompt(
      { ...request, instruction: 'Use [1].' },
      { ...settings, systemPrompt: 'Cite.' },
    );
    expect(messages.map(({ role }) => role)).toEqual(['system', 'user']);
    expect(messages[0]?.content).toBe('Be brief.\n\nBe kind.\n\nCite.\n\nUse [1].');
  });

  it('has a note in the place of passages where nothing was found', () => {
    const prompt = (collection?: string) =>
      buildGroundedPrompt({ messages: [user('Who?')], passages: [], collection }, settings).messages[0]
        ?.content;
    expect(prompt()).toContain('### Search results:\nThe search found nothing.\n');
    expect(prompt('manuals')).toContain('The search found nothing in the collection "manuals".');
  });

  it('removes the numbers of earlier answers', () => {
    const messages = [user('First?'), assistant('Yes [3]. No. [1][2]'), user('Second [3]?')];
    const prompt = buildGroundedPrompt({ messages, passages }, settings);
    expect(prompt.messages[1]?.content).toBe('Yes. No.');
    expect(prompt.question).toBe('Second [3]?');
  });

  it("takes the caller's template", () => {
    const request = { messages: [user('q')], passages, chat_template: '{question}? {context}' };
    expect(buildGroundedPrompt(request, settings).messages[0]?.content).toMatch(/^q\? \[1] Tea/);
    expect(fillChatTemplate([user('q')], 'Q: {question} {context}.')).toEqual([user('Q: q .')]);
  });

  it('refuses a conversation without a question and a template without a place for it', () => {
    expect(() => buildGroundedPrompt({ messages: [system('a')], passages }, settings)).toThrow(
      expect.objectContaining({ param: 'messages' }),
    );
    const request = { messages: [user('q')], passages, chat_template: '{context}' };
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
