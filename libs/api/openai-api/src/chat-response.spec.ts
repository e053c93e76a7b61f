import type { GenerationChunk } from '#platform/contracts';
import type OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import {
  chatCompletionFrames,
  collectChatCompletion,
  type ChatCompletion,
  type ChatCompletionChunk,
} from './chat-response.js';

/** The builders' types must fit the official client's: this does not compile otherwise. */
const completionFits = (completion: ChatCompletion): OpenAI.ChatCompletion => completion;
const chunkFits = (chunk: WithFunctions): OpenAI.ChatCompletionChunk => chunk;
/** The client's chunks know calls of functions only; those of custom tools look like its whole ones. */
type WithFunctions = Omit<ChatCompletionChunk, 'choices'> & {
  choices: (Omit<Choice, 'delta'> & { delta: Omit<Choice['delta'], 'tool_calls'> })[];
};
type Choice = ChatCompletionChunk['choices'][number];

const document = {
  id: 'chunk-1',
  text: 'Zorvex is a broker.',
  score: 1,
  metadata: { document_id: 'd1', filename: 'zorvex.md', title: 'Zorvex' },
};
const identity = {
  id: 'chatcmpl-1',
  created: 1,
  model: 'chatqna',
  revision: 'abc',
  documents: () => [document],
};

async function* generation(): AsyncGenerator<GenerationChunk> {
  yield { choice: 0, text: 'Zorvex is' };
  yield { choice: 1, text: 'No' };
  yield { choice: 0, text: ' a broker. [1]' };
  yield { choice: 1, text: '', finishReason: 'length' };
  const citations = [
    { startIndex: 0, endIndex: 19, passage: 1, documentId: 'chunk-1', quote: 'Zorvex is a broker.' },
  ];
  yield { choice: 0, text: '', finishReason: 'stop', citations };
  yield { choice: 0, text: '', usage: { promptTokens: 10, completionTokens: 7, cachedTokens: 4 } };
}

/** The objects of a stream's frames, which end with `[DONE]`. */
async function streamed(
  chunks: AsyncIterable<GenerationChunk>,
  includeUsage: boolean,
): Promise<ChatCompletionChunk[]> {
  const frames: string[] = [];
  for await (const frame of chatCompletionFrames(chunks, identity, includeUsage)) frames.push(frame);
  expect(frames.pop()).toBe('data: [DONE]\n\n');
  return frames.map((frame) => JSON.parse(frame.replace(/^data: /, '')) as ChatCompletionChunk);
}

describe('collectChatCompletion', () => {
  it('joins each choice, resolves citations and reports the usage', async () => {
    const completion = completionFits(await collectChatCompletion(generation(), identity));
    expect(completion.choices.map(({ message, finish_reason }) => [message.content, finish_reason])).toEqual([
      ['Zorvex is a broker. [1]', 'stop'],
      ['No', 'length'],
    ]);
    expect(completion.choices[0]?.message.annotations?.[0]?.url_citation).toMatchObject({
      start_index: 0,
      end_index: 19,
      title: 'Zorvex',
      url: 'urn:meganest:document:d1',
      urn: 'urn:meganest:document:d1',
    });
    expect(completion.usage).toMatchObject({ prompt_tokens: 10, completion_tokens: 7, total_tokens: 17 });
    expect(completion.usage?.prompt_tokens_details?.cached_tokens).toBe(4);
  });
});

describe('citations in the midst of an answer, and its certainty', () => {
  async function* cited(): AsyncGenerator<GenerationChunk> {
    const citation = (passage: number, endIndex: number) => ({
      startIndex: endIndex - 4,
      endIndex,
      passage,
      documentId: 'chunk-1',
      quote: 'Zorvex is a broker.',
    });
    yield { choice: 0, text: 'One. [1]', citations: [citation(1, 4)] };
    yield { choice: 0, text: ' Two. [2]', citations: [citation(2, 13)] };
    const certainty = { kind: 'closest', confidence: 0.3 } as const;
    const place = { quoteStart: 4, quoteEnd: 23, inferred: true };
    const support = { statements: 3, cited: 2, unknown: [9] };
    const citations = [{ ...citation(1, 13), ...place }];
    yield { choice: 0, text: '', finishReason: 'stop', citations, certainty, support };
  }

  it('are in the stream as in the whole answer', async () => {
    const completion = completionFits(await collectChatCompletion(cited(), identity));
    const chunks = await streamed(cited(), false);
    chunks.forEach(chunkFits);
    const annotations = chunks.flatMap(({ choices }) => choices[0]?.delta.annotations ?? []);
    expect(annotations).toEqual(completion.choices[0]?.message.annotations);
    expect(annotations).toHaveLength(3);
    expect(chunks[2]?.choices[0]?.delta).toHaveProperty('annotations');
    for (const choice of [completion.choices[0], chunks.at(-1)?.choices[0]])
      expect(choice).toMatchObject({
        answer_kind: 'closest',
        confidence: 0.3,
        citation_coverage: 0.67,
        unknown_citations: [9],
      });
    const [first, , last] = annotations.map((annotation) => annotation.url_citation);
    const unknown = { document_start: null, document_end: null };
    expect(first).toMatchObject({ passage: 1, quote: 'Zorvex is a broker.', ...unknown });
    expect(first).not.toHaveProperty('inferred');
    expect(last).toMatchObject({ passage: 1, quote_start: 4, quote_end: 23, inferred: true });
    expect(chunks.filter(({ choices }) => choices[0]?.answer_kind !== undefined)).toHaveLength(1);
  });
});

async function* calls(): AsyncGenerator<GenerationChunk> {
  yield { choice: 0, text: '', reasoning: 'Hm.' };
  const id = 'call_1';
  yield { choice: 0, text: '', toolCalls: [{ index: 0, id, name: 'add', kind: 'function', input: '' }] };
  yield { choice: 0, text: '', toolCalls: [{ index: 0, input: '{"a":1}' }] };
  yield {
    choice: 0,
    text: '',
    toolCalls: [{ index: 1, id: 'call_2', name: 'patch', kind: 'custom', input: '+' }],
  };
  const usage = { promptTokens: 1, completionTokens: 2, cachedTokens: 0, reasoningTokens: 1 };
  yield { choice: 0, text: '', finishReason: 'tool_calls', usage };
}

async function* refusal(): AsyncGenerator<GenerationChunk> {
  yield { choice: 0, text: 'Not ', refusal: true };
  yield { choice: 0, text: 'this.', refusal: true };
  yield { choice: 0, text: '', finishReason: 'content_filter' };
}

describe('a refusal', () => {
  it('has a field of its own, and no content', async () => {
    const completion = completionFits(await collectChatCompletion(refusal(), identity));
    expect(completion.choices[0]).toMatchObject({
      finish_reason: 'content_filter',
      message: { content: null, refusal: 'Not this.' },
    });
    const chunks = await streamed(refusal(), false);
    chunks.forEach(chunkFits);
    const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta));
    expect(deltas.map((delta) => delta.refusal ?? '').join('')).toBe('Not this.');
    expect(deltas.map(({ content }) => content ?? '').join('')).toBe('');
  });
});

describe('calls of tools', () => {
  it('are gathered, without content where nothing was said', async () => {
    const completion = completionFits(await collectChatCompletion(calls(), identity));
    expect(completion.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: {
        content: null,
        reasoning_content: 'Hm.',
        tool_calls: [
          { id: 'call_1', type: 'function', function: { name: 'add', arguments: '{"a":1}' } },
          { id: 'call_2', type: 'custom', custom: { name: 'patch', input: '+' } },
        ],
      },
    });
    expect(completion.usage?.completion_tokens_details?.reasoning_tokens).toBe(1);
  });

  it('come in pieces of which the first has the name', async () => {
    const chunks = await streamed(calls(), false);
    const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta));
    expect(deltas.flatMap(({ tool_calls = [] }) => tool_calls)).toEqual([
      { index: 0, id: 'call_1', type: 'function', function: { name: 'add', arguments: '' } },
      { index: 0, function: { arguments: '{"a":1}' } },
      { index: 1, id: 'call_2', type: 'custom', custom: { name: 'patch', input: '+' } },
    ]);
    expect(deltas.map(({ reasoning_content }) => reasoning_content ?? '').join('')).toBe('Hm.');
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('tool_calls');
  });

  it('answer the deprecated functions in their own form', async () => {
    const legacy = { ...identity, legacyFunctions: true };
    const { choices } = await collectChatCompletion(calls(), legacy);
    expect(choices[0]).toMatchObject({
      finish_reason: 'function_call',
      message: { function_call: { name: 'add', arguments: '{"a":1}' } },
    });
    expect(choices[0]?.message.tool_calls).toBeUndefined();
  });
});

describe('chatCompletionFrames', () => {
  it('begins each choice with its role and ends it with its reason', async () => {
    const chunks = await streamed(generation(), true);
    chunks.forEach(chunkFits);
    const ofFirst = chunks.flatMap(({ choices }) => choices).filter(({ index }) => index === 0);
    expect(ofFirst[0]?.delta.role).toBe('assistant');
    expect(ofFirst.map(({ delta }) => delta.content ?? '').join('')).toBe('Zorvex is a broker. [1]');
    expect(ofFirst.at(-1)).toMatchObject({
      finish_reason: 'stop',
      delta: { annotations: [{ type: 'url_citation' }] },
    });
  });

  it('has the usage in a last chunk without choices, and null before, only when asked for', async () => {
    const withUsage = await streamed(generation(), true);
    expect(withUsage.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 17 } });
    expect(withUsage.slice(0, -1).every(({ usage }) => usage === null)).toBe(true);
    const without = await streamed(generation(), false);
    expect(without.every((chunk) => !('usage' in chunk))).toBe(true);
  });
});
