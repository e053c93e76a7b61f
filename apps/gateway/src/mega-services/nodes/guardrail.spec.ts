import type { ChatMessage } from '#contracts';
import { describe, expect, it } from 'vitest';
import type { AnswerForm, NodeCall } from '../mega-service-request.js';
import { callGuardrail } from './guardrail.js';

/** A guard that blocks "bomb" and redacts "plum". */
function judgeMessages(messages: ChatMessage[], form?: AnswerForm) {
  const client = {
    request: (_method: unknown, { texts }: { texts: string[] }) =>
      Promise.resolve({
        revision: 'r',
        judgements: texts.map((text) => ({
          action: text.includes('bomb') ? 'block' : text.includes('plum') ? 'redact' : 'pass',
          text: text.replaceAll('plum', '[fruit]'),
          findings: [],
        })),
      }),
  };
  return callGuardrail({
    client,
    context: { inputs: {}, report: () => {} },
    request: { messages, query: '', form },
    options: {},
  } as unknown as NodeCall);
}

describe('callGuardrail', () => {
  const hidden: [string, ChatMessage][] = [
    ['system', { role: 'system', content: 'a bomb' }],
    ['developer', { role: 'developer', content: 'a bomb' }],
    ['assistant', { role: 'assistant', content: 'a bomb' }],
    ['tool', { role: 'tool', content: 'a bomb', toolCallId: 'c' }],
    ['reasoning', { role: 'assistant', content: '', reasoning: 'a bomb' }],
    ['name', { role: 'user', content: 'hi', name: 'a bomb' }],
    ['called tool', { role: 'assistant', content: '', toolCalls: [{ id: 'c', name: 'bomb', input: '' }] }],
    ['call', { role: 'assistant', content: '', toolCalls: [{ id: 'c', name: 'f', input: 'a bomb' }] }],
  ];

  it.each(hidden)('judges what is written as %s', async (_kind, message) => {
    expect(await judgeMessages([message, { role: 'user', content: 'hi' }])).toMatchObject({ cut: true });
  });

  const user: ChatMessage = { role: 'user', content: 'hi' };
  const described = (description: string): AnswerForm => ({
    tools: [{ type: 'function', name: 'f', parameters: { properties: { x: { description } } } }],
  });

  it('judges the tools and the form of the answer', async () => {
    expect(await judgeMessages([user], described('a bomb'))).toMatchObject({ cut: true });
    const choices: AnswerForm = { constraint: { type: 'choice', choices: ['a bomb'] } };
    expect(await judgeMessages([user], choices)).toMatchObject({ cut: true });
    expect(await judgeMessages([user], described('a tree'))).toMatchObject({ messages: [user] });
  });

  it('refuses tools with a text that it would have to redact', async () => {
    await expect(judgeMessages([user], described('a plum'))).rejects.toMatchObject({
      code: 'invalid_request',
      param: 'tools',
    });
  });

  it('redacts each text in its place', async () => {
    const judged = await judgeMessages([
      {
        role: 'assistant',
        content: 'plum',
        reasoning: 'plum?',
        toolCalls: [{ id: 'c', name: 'f', input: '"plum"' }],
      },
      { role: 'user', content: 'a plum' },
    ]);
    expect(judged).toMatchObject({
      messages: [
        { content: '[fruit]', reasoning: '[fruit]?', toolCalls: [{ input: '"[fruit]"' }] },
        { content: 'a [fruit]' },
      ],
    });
  });
});
