import {
  filesOf,
  joinPieces,
  textOfAttached,
  type ChatMessage,
  type GenerationChunk,
  type GuardrailJudgement,
} from '#platform/contracts';
import { describe, expect, it } from 'vitest';
import type { AnswerForm, NodeCall } from '../mega-service-request.js';
import { callGuardrail, guardAnswers } from './guardrail.js';

/** A guard that blocks "bomb" and redacts "plum". */
function judgeMessages(messages: ChatMessage[], form?: AnswerForm) {
  const client = {
    request: (_method: unknown, { texts }: { texts: string[] }) =>
      Promise.resolve({
        revision: 'r',
        judgements: texts.map((text) => ({
          action: text.includes('bomb') ? 'block' : text.includes('plum') ? 'redact' : 'pass',
          text: text.replaceAll('plum', '[fruit]'),
          findings: [...text.matchAll(/plum/g)].map(({ index }) => ({
            start: index,
            end: index + 4,
            replacement: '[fruit]',
          })),
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

  it('judges the text of files, and knows where they are after a redaction', async () => {
    const fileOf = (text: string): ChatMessage => ({
      role: 'user',
      ...joinPieces([
        { text: 'A plum?' },
        { text: textOfAttached({ filename: 'plum.txt' }, text), file: { filename: 'plum.txt' } },
        { text: 'Which plum?' },
      ]),
    });
    expect(await judgeMessages([fileOf('a bomb')])).toMatchObject({ cut: true });
    const judged = await judgeMessages([fileOf('one plum.')]);
    if (!('messages' in judged)) throw new Error('the request is blocked');
    const [message] = judged.messages;
    expect(filesOf(message!)).toMatchObject([{ text: '[fruit].txt:\none [fruit].' }]);
    expect(judged.query).toBe('A [fruit]?\nWhich [fruit]?');
  });
});

const usage = { promptTokens: 3, completionTokens: 4, cachedTokens: 0 };

/** Blocks texts about plan nine, and redacts the word "secret". */
function judge(text: string): Promise<GuardrailJudgement> {
  if (text.includes('plan nine')) {
    const finding = { rule: 'plan', description: 'the plan', action: 'block' as const };
    return Promise.resolve({ action: 'block', text: '', message: 'No more of that.', findings: [finding] });
  }
  const start = text.indexOf('secret');
  if (start < 0) return Promise.resolve({ action: 'pass', text, findings: [] });
  const finding = { rule: 'secret', description: 'secrets', action: 'redact' as const };
  const place = { start, end: start + 6, replacement: '#' };
  return Promise.resolve({
    action: 'redact',
    text: text.replace('secret', '#'),
    findings: [{ ...finding, ...place }],
  });
}

async function guard(...chunks: GenerationChunk[]): Promise<GenerationChunk[]> {
  const guarded: GenerationChunk[] = [];
  for await (const chunk of guardAnswers(stream(chunks), judge)) guarded.push(chunk);
  return guarded;
}

async function* stream(chunks: GenerationChunk[]): AsyncGenerator<GenerationChunk> {
  yield* chunks;
}

function citation(startIndex: number, endIndex: number) {
  return { startIndex, endIndex, passage: 1, documentId: 'd', quote: 'q' };
}

describe('guardAnswers', () => {
  it('hands on what passes as it is', async () => {
    const chunks: GenerationChunk[] = [
      { choice: 0, text: 'All is well. ' },
      { choice: 0, text: '', finishReason: 'stop', usage },
    ];
    expect(await guard(...chunks)).toEqual(chunks);
  });

  it('ends an answer at a sentence that is blocked, and lets the others go on', async () => {
    const guarded = await guard(
      { choice: 0, text: 'Well. ' },
      { choice: 0, text: 'Now plan nine. ' },
      { choice: 1, text: 'Good. ' },
      { choice: 0, text: 'And more.', finishReason: 'stop' },
      { choice: 1, text: 'Bye.', finishReason: 'stop', usage },
    );
    expect(guarded.filter(({ choice }) => choice === 0)).toEqual([
      { choice: 0, text: 'Well. ' },
      { choice: 0, text: 'No more of that.', refusal: true, finishReason: 'content_filter' },
    ]);
    expect(guarded.at(-1)).toMatchObject({ choice: 1, text: 'Bye.', finishReason: 'stop', usage });
  });

  it('keeps the usage that comes after a block', async () => {
    const last: GenerationChunk = { choice: 0, text: 'Rest.', finishReason: 'stop', usage, model: 'm' };
    const guarded = await guard({ choice: 0, text: 'plan nine. ' }, last);
    expect(guarded.at(-1)).toEqual({ choice: 0, text: '', usage, model: 'm' });
  });

  it('moves citations with the text that was redacted before them, and drops those inside', async () => {
    const first = 'The secret is out. ';
    const [redacted, cited] = await guard(
      { choice: 0, text: first },
      {
        choice: 0,
        text: 'Rain falls.',
        finishReason: 'stop',
        citations: [citation(0, 18), citation(first.length, first.length + 11)],
      },
    );
    const whole = `${redacted?.text}${cited?.text}`;
    expect(whole).toBe('The # is out. Rain falls.');
    expect(cited?.citations?.map(({ startIndex, endIndex }) => whole.slice(startIndex, endIndex))).toEqual([
      'Rain falls.',
    ]);
  });

  it('drops the citations whose quotes, the words of a document, a rule finds', async () => {
    const quoting = (quote: string) => ({ ...citation(0, 4), quote });
    const citations = [quoting('A secret.'), quoting('It rains.'), quoting('Of plan nine.')];
    const [guarded] = await guard({ choice: 0, text: 'Rain', finishReason: 'stop', citations });
    expect(guarded?.citations?.map(({ quote }) => quote)).toEqual(['It rains.']);
  });

  it('withholds what the model thinks, which no guard has judged', async () => {
    async function* thinking() {
      await Promise.resolve();
      yield { choice: 0, text: '', reasoning: 'the secret is plum' };
      yield { choice: 0, text: 'Hello.', reasoning: 'plum' };
    }
    const chunks: unknown[] = [];
    for await (const chunk of guardAnswers(thinking(), (text) =>
      Promise.resolve({ action: 'pass', text, findings: [] }),
    ))
      chunks.push(chunk);
    expect(JSON.stringify(chunks)).not.toContain('plum');
  });
});
