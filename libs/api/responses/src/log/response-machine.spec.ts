import { MegaNestError } from '#platform/contracts';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { responseFromEvents } from './apply-event.js';
import { isTerminal, type ResponseEvent } from './events.js';
import { fileSearchSteps } from './call-writer.js';
import { ResponseMachine } from './response-machine.js';
import { initialResponse, logOf, run, say, search, type Logged } from './response-machine.fixture.js';

interface OpenItem {
  id: string;
  part: boolean;
  closed: boolean;
}

/** What is out of order: an event that refers to something not open, with another id or at another place. */
function violations(log: readonly ResponseEvent[]): string[] {
  const items: OpenItem[] = [];
  return log
    .filter((event) => !isInOrder(event, items))
    .map(({ type, sequence_number }) => `${sequence_number} ${type}`);
}

function isInOrder(event: ResponseEvent, items: OpenItem[]): boolean {
  if (!('output_index' in event)) return true;
  if (event.type === 'response.output_item.added') {
    items.push({ id: event.item.id, part: false, closed: false });
    return event.output_index === items.length - 1;
  }
  const item = items[event.output_index];
  const id = 'item' in event ? event.item.id : event.item_id;
  if (!item || item.closed || id !== item.id) return false;
  if (event.type === 'response.content_part.added') item.part = true;
  else if ('content_index' in event && !item.part) return false;
  if (event.type === 'response.content_part.done') item.part = false;
  if (event.type === 'response.output_item.done') item.closed = true;
  return true;
}

/** The texts that the log says the answer has, in different ways. */
function textsOf(log: readonly ResponseEvent[]): string[] {
  const deltas = log.map((event) => (event.type === 'response.output_text.delta' ? event.delta : ''));
  const done = log.map((event) => (event.type === 'response.output_text.done' ? event.text : ''));
  const isWhole = log.at(-1)?.type !== 'response.failed';
  return [deltas.join(''), responseFromEvents(log).output_text, ...(isWhole ? [done.join('')] : [])];
}

describe('ResponseMachine', () => {
  const holdsForAll = (holds: (logged: Logged) => void) =>
    fc.assert(
      fc.property(run, (value) => {
        holds(logOf(value));
      }),
    );

  it('writes a well-ordered log, whatever the chunks', () => {
    expect.hasAssertions();
    holdsForAll(({ log }) => expect(violations(log)).toEqual([]));
  });

  it('numbers its events from 0 without gaps, and begins with created', () => {
    expect.hasAssertions();
    holdsForAll(({ log }) => {
      expect(log.map((event) => event.sequence_number)).toEqual(log.map((_event, index) => index));
      expect(log[0]?.type).toBe('response.created');
    });
  });

  it('ends with its only terminal event, whose response is what the log leads to', () => {
    expect.hasAssertions();
    holdsForAll(({ log, machine }) => {
      const last = log.at(-1);
      expect(log.filter(isTerminal)).toEqual([last]);
      expect(last).toMatchObject({ response: responseFromEvents(log) });
      expect(machine.response).toEqual(responseFromEvents(log));
    });
  });

  it('adds nothing after its end', () => {
    expect.hasAssertions();
    holdsForAll(({ machine }) =>
      expect([...say(machine, { text: 'late' }), ...machine.end(), ...machine.cancel()]).toEqual([]),
    );
  });

  it('has a final text that equals the joined deltas', () => {
    expect.hasAssertions();
    holdsForAll(({ log }) => expect(new Set(textsOf(log)).size).toBe(1));
  });

  it('leads to the same response from any snapshot in it', () => {
    expect.hasAssertions();
    holdsForAll(({ log }) => {
      const snapshots = log.flatMap((event, index) => ('response' in event ? [index] : []));
      const ends = snapshots.map((index) => responseFromEvents(log.slice(index)));
      expect(ends).toEqual(ends.map(() => responseFromEvents(log)));
    });
  });

  it('goes on with numbers where another process stopped', () => {
    const machine = new ResponseMachine(initialResponse(), 4);
    expect(say(machine, { text: 'Hi' }).map((event) => event.sequence_number)).toEqual([4, 5, 6]);
  });
});

describe('the response that a log ends with', () => {
  const usage = { promptTokens: 3, completionTokens: 2, cachedTokens: 1 };

  it('is completed with usage', () => {
    const { log } = logOf({
      steps: [
        { type: 'chunk', chunk: { choice: 0, text: 'Hi' } },
        { type: 'chunk', chunk: { choice: 0, text: '', finishReason: 'stop', usage } },
      ],
      ending: 'end',
      queued: false,
      keepAliveAfter: 5,
    });
    expect(responseFromEvents(log)).toMatchObject({
      status: 'completed',
      completed_at: 9,
      error: null,
      incomplete_details: null,
      output_text: 'Hi',
      output: [{ type: 'message', status: 'completed', content: [{ type: 'output_text', text: 'Hi' }] }],
      usage: {
        input_tokens: 3,
        input_tokens_details: { cached_tokens: 1 },
        output_tokens: 2,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 5,
      },
    });
  });

  it('is incomplete where the token limit cut it off', () => {
    const machine = new ResponseMachine(initialResponse());
    say(machine, { text: 'Hi', finishReason: 'length' });
    expect(machine.end().at(-1)?.type).toBe('response.incomplete');
    expect(machine.response).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output: [{ status: 'incomplete' }],
      completed_at: null,
    });
  });

  it('is failed with the error, and keeps what was said', () => {
    const machine = new ResponseMachine(initialResponse());
    say(machine, { text: 'Hi' });
    const error = new MegaNestError('service_unavailable', { service: 'llm', detail: 'gone' });
    const [first, last] = machine.fail(error);
    expect(first).toMatchObject({ type: 'error', code: 'service_unavailable', param: null });
    expect(last).toMatchObject({ type: 'response.failed', response: { output_text: 'Hi' } });
    expect(machine.response.error).toEqual({ code: 'server_error', message: error.message });
  });

  it('names a context that is too long as Codex expects it', () => {
    const machine = new ResponseMachine(initialResponse());
    machine.fail(new MegaNestError('context_length_exceeded', { tokens: 9, limit: 5, model: 'nano-chat' }));
    expect(machine.response.error?.code).toBe('context_length_exceeded');
  });

  it('shows a retrieval and cites its documents', () => {
    const machine = new ResponseMachine(initialResponse());
    for (const each of search()) machine.take(each);
    const citations = [{ startIndex: 0, endIndex: 7, passage: 2, documentId: 'b', quote: 'passage' }];
    say(machine, { text: 'passage', citations });
    machine.end();
    const [call, message] = machine.response.output;
    expect(call).toMatchObject({
      type: 'file_search_call',
      status: 'completed',
      queries: ['why?'],
      results: [
        { file_id: 'document-a', filename: 'a.md', attributes: { chunk_id: 'a', chunk_index: 3 } },
        { file_id: 'document-b' },
      ],
    });
    expect(message?.type === 'message' && message.content).toMatchObject([
      { annotations: [{ type: 'file_citation', file_id: 'document-b', filename: 'b.md', index: 7 }] },
    ]);
  });

  it('says what an answer is to the documents, and how probable that is', () => {
    const machine = new ResponseMachine(initialResponse());
    for (const each of search()) machine.take(each);
    say(machine, { text: 'passage', certainty: { kind: 'closest', confidence: 0.3 } });
    machine.end();
    expect(machine.response.output.at(-1)).toMatchObject({
      type: 'message',
      status: 'completed',
      answer_kind: 'closest',
      confidence: 0.3,
    });
  });

  it('cites the page on which the quote begins', () => {
    const machine = new ResponseMachine(initialResponse());
    const metadata = { document_id: 'manual', filename: 'manual.pdf', page: 4, page_breaks: '7:5' };
    const documents = [{ id: 'a', text: 'Before.After.', score: 1, metadata }];
    for (const each of fileSearchSteps({ queries: ['why?'], documents, includeResults: true }))
      machine.take(each);
    const citations = ['Before.', 'After.'].map((quote) => ({
      startIndex: 0,
      endIndex: 7,
      passage: 1,
      documentId: 'a',
      quote,
    }));
    say(machine, { text: 'passage', citations });
    machine.end();
    const message = machine.response.output.at(-1);
    expect(message?.type === 'message' && message.content).toMatchObject([
      { annotations: [{ page: 4 }, { page: 5 }] },
    ]);
  });

  it('is completed by a refusal in the place of an answer, with its events', () => {
    const machine = new ResponseMachine(initialResponse());
    const log = [
      ...say(machine, { text: 'Not ', refusal: true }),
      ...say(machine, { text: 'this.', refusal: true, finishReason: 'content_filter' }),
      ...machine.end(),
    ];
    expect(log.map(({ type }) => type)).toEqual([
      'response.output_item.added',
      'response.content_part.added',
      'response.refusal.delta',
      'response.refusal.delta',
      'response.refusal.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ]);
    expect(machine.response).toMatchObject({
      status: 'completed',
      output_text: '',
      output: [{ content: [{ type: 'refusal', refusal: 'Not this.' }] }],
    });
  });

  it('is cut off by a refusal in the middle of an answer, which is a part of its own', () => {
    const machine = new ResponseMachine(initialResponse());
    say(machine, { text: 'First. ' });
    say(machine, { text: 'No more.', refusal: true, finishReason: 'content_filter' });
    machine.end();
    expect(machine.response).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'content_filter' },
      output_text: 'First. ',
      output: [
        {
          status: 'incomplete',
          content: [
            { type: 'output_text', text: 'First. ' },
            { type: 'refusal', refusal: 'No more.' },
          ],
        },
      ],
    });
  });
});
