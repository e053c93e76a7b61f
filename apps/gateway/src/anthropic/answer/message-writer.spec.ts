import type { GenerationChunk } from '#platform/contracts';
import { describe, expect, it } from 'vitest';
import type { MessageEvent } from './message-events.js';
import { collectMessage, MessageWriter } from './message-writer.js';

const options = {
  identity: { id: 'chatcmpl-1', created: 1, model: 'm' },
  model: 'm',
  stopSequences: ['END'],
  sources: [],
  sign: (thinking: string) => `signed ${thinking}`,
  hidesThinking: false,
};

async function* stream<Item>(...items: Item[]): AsyncGenerator<Item, void, void> {
  yield* items;
}

const piece = (chunk: Partial<GenerationChunk>): GenerationChunk => ({ choice: 0, text: '', ...chunk });
const call = (index: number, input: string, name?: string) =>
  piece({ toolCalls: [{ index, input, ...(name && { id: `c${index}`, name }) }] });

async function eventsOf(...chunks: GenerationChunk[]): Promise<MessageEvent[]> {
  const events: MessageEvent[] = [];
  for await (const event of new MessageWriter(options).write(stream(...chunks))) events.push(event);
  return events;
}
const messageOf = async (...chunks: GenerationChunk[]) =>
  collectMessage(stream(...(await eventsOf(...chunks))));

describe('MessageWriter', () => {
  it('writes one block after the other', async () => {
    const message = await messageOf(
      piece({ reasoning: 'hm' }),
      piece({ text: 'Look:' }),
      call(0, '{"a"', 'add'),
      call(0, ':1}'),
      piece({ finishReason: 'tool_calls', usage: { promptTokens: 9, completionTokens: 4, cachedTokens: 5 } }),
    );
    expect(message).toMatchObject({
      id: 'msg_1',
      content: [
        { type: 'thinking', thinking: 'hm', signature: 'signed hm' },
        { type: 'text', text: 'Look:' },
        { type: 'tool_use', id: 'c0', name: 'add', input: { a: 1 } },
      ],
      stop_reason: 'tool_use',
      usage: { input_tokens: 4, cache_read_input_tokens: 5, output_tokens: 4 },
    });
  });

  it('keeps the pieces of calls apart that arrive together', async () => {
    const chunks = [call(0, '{"a":', 'add'), call(1, '{"b":', 'sub'), call(0, '1}'), call(1, '2}')];
    const events = await eventsOf(...chunks, piece({ finishReason: 'tool_calls' }));
    expect((await collectMessage(stream(...events))).content).toMatchObject([
      { name: 'add', input: { a: 1 } },
      { name: 'sub', input: { b: 2 } },
    ]);
    const opened = events.filter(({ type }) => type.startsWith('content_block_st')).map(({ type }) => type);
    expect(opened).toEqual(
      Array.from({ length: 2 }, () => ['content_block_start', 'content_block_stop']).flat(),
    );
  });

  it('names the stop sequence that ended the answer', async () => {
    const message = await messageOf(piece({ text: 'one E' }), piece({ text: 'ND', finishReason: 'stop' }));
    expect(message).toMatchObject({
      content: [{ text: 'one ' }],
      stop_reason: 'stop_sequence',
      stop_sequence: 'END',
    });
  });

  it('writes a message without a block for an empty answer', async () => {
    expect(await messageOf(piece({ finishReason: 'stop' }))).toMatchObject({
      content: [],
      stop_reason: 'end_turn',
    });
  });

  it('fails for arguments that are not an object', async () => {
    await expect(messageOf(call(0, '[1', 'add'))).rejects.toThrow('add are not a JSON object');
  });
});
