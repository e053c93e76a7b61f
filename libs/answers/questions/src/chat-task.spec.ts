import { describe, expect, it } from 'vitest';
import { chatTaskOf } from './chat-task.js';

const transcript = 'USER: How high is the tower?\nASSISTANT: It is 40 meters high. [1]';
const user = (content: string) => [{ role: 'user', content }];
const history = [
  { role: 'user', content: 'How high is the tower?' },
  { role: 'assistant', content: 'It is 40 meters high. [1]' },
];

describe('chatTaskOf', () => {
  it.each([
    [
      'title',
      `### Task:\nGenerate a concise, 3-5 word title with an emoji summarizing the chat history.\n### Output:\nJSON format: { "title": "your concise title here" }\n### Chat History:\n<chat_history>\n${transcript}\n</chat_history>`,
      { json: { key: 'title', isList: false }, maxWords: 5 },
    ],
    [
      'tags',
      `### Task:\nGenerate 1-3 broad tags categorizing the main themes of the chat history.\n### Output:\nJSON format: { "tags": ["tag1", "tag2"] }\n<chat_history>\n${transcript}\n</chat_history>`,
      { json: { key: 'tags', isList: true } },
    ],
    [
      'follow-ups',
      `### Task:\nSuggest 3-5 relevant follow-up questions or prompts that the user might ask next in this chat.\n### Output:\nJSON format: { "follow_ups": ["Question 1?"] }\n<chat_history>\n${transcript}\n</chat_history>`,
      { json: { key: 'follow_ups', isList: true } },
    ],
    [
      'queries',
      `### Task:\nAnalyze the chat history to determine the necessity of generating search queries.\n### Output:\nReturn in JSON format: {\n  "queries": ["query1"]\n}\n<chat_history>\n${transcript}\n</chat_history>`,
      { json: { key: 'queries', isList: true } },
    ],
    [
      'title',
      `Provide a concise, 5-word-or-less title for the conversation, using its same language. Only return the title itself.\n\nConversation:\nUser: How high is the tower?\nAI: It is 40 meters high. [1]`,
      { maxWords: 5 },
    ],
  ])('recognizes the request for %s', (kind, text, rest) => {
    expect(chatTaskOf(user(text))).toEqual({ kind, history, ...rest });
  });

  it('takes the turns before the request, and a transcript after an instruction of the system', () => {
    const asked =
      'Please generate a four to five word title summarizing our conversation without any punctuation.';
    expect(chatTaskOf([...history, ...user(asked)])).toMatchObject({ kind: 'title', history, maxWords: 5 });
    const name = 'Based on the chat history, give this conversation a name. Keep it short, no quotes.';
    expect(chatTaskOf([...history, ...user(name)])).toMatchObject({ kind: 'title', history });
    const system = { role: 'system', content: 'Summarize the conversation into a short title of 10 words.' };
    expect(chatTaskOf([system, ...user(transcript)])).toMatchObject({ kind: 'title', history });
  });

  it.each([
    'What is the title of the book about conversations?',
    'Which tags does a chat have?',
    'Give me the title of the chat report.',
    'Write a short summary of the conversation rules.',
    'How do I generate a title for a chat?',
  ])('%s is a question', (question) => {
    expect(chatTaskOf(user(question))).toBeUndefined();
    expect(chatTaskOf([...history, ...user(question)])).toBeUndefined();
  });
});
