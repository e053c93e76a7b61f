import type { GenerationChunk, MegaNestError, RetrievedDocument, TokenUsage } from '#contracts';
import { newItemId } from '../ids.js';
import { fileCitations, fileSearchResult } from '../items/documents.js';
import {
  outputText,
  type FileSearchCall,
  type ItemStatus,
  type OutputMessage,
  type OutputText,
} from '../items/output-items.js';
import { isFinished, responseUsage, type ResponseObject } from '../response-object.js';
import { applyEvent } from './apply-event.js';
import type { LifecycleType, ResponseEvent, UnnumberedEvent } from './events.js';
import { errorEvent, responseError } from './failure.js';
import { toLogProbs } from './log-probs.js';

interface OpenMessage {
  id: string;
  outputIndex: number;
}

/**
 * Turns a generation into the event log of its response: each method answers the events that it adds. Every log
 * begins with `response.created`, ends with exactly one of completed, incomplete and failed, and its numbers have no
 * gaps. Calls after the end add nothing. Pure: it knows neither transports nor storage.
 */
export class ResponseMachine {
  #response: ResponseObject;
  #sequence: number;
  #message: OpenMessage | undefined;
  #documents: readonly RetrievedDocument[] = [];
  #cutOff = false;
  #usage: TokenUsage | undefined;

  /** `nextSequence` above 0 goes on with a log that another process began. */
  constructor(
    initial: ResponseObject,
    nextSequence = 0,
    private readonly now: () => number = () => Math.floor(Date.now() / 1000),
  ) {
    this.#response = structuredClone(initial);
    this.#sequence = nextSequence;
  }

  /** The response as the log has made it so far; a copy. */
  get response(): ResponseObject {
    this.#response.output_text = outputText(this.#response.output);
    return structuredClone(this.#response);
  }

  get finished(): boolean {
    return isFinished(this.#response);
  }

  /** Begins the log: created, and queued where the response waits for a worker. */
  create(): ResponseEvent[] {
    const created = this.#lifecycle('response.created');
    return this.#response.status === 'queued' ? [created, this.#lifecycle('response.queued')] : [created];
  }

  /** Work begins; also repeated as a sign of life where nothing else was logged for long. */
  progress(): ResponseEvent[] {
    if (this.finished) return [];
    this.#response.status = 'in_progress';
    return [this.#lifecycle('response.in_progress')];
  }

  /** A retrieval that the answer is grounded on; its passages are what citations resolve to. */
  search(query: string, documents: readonly RetrievedDocument[], includeResults: boolean): ResponseEvent[] {
    if (this.finished) return [];
    this.#documents = documents;
    const results = includeResults ? documents.map(fileSearchResult) : null;
    const begun: FileSearchCall = {
      id: newItemId('file_search_call'),
      type: 'file_search_call',
      status: 'in_progress',
      queries: [query],
      results: null,
    };
    const position = { item_id: begun.id, output_index: this.#response.output.length };
    const output_index = position.output_index;
    return [
      this.#add({ type: 'response.output_item.added', output_index, item: begun }),
      this.#add({ type: 'response.file_search_call.in_progress', ...position }),
      this.#add({ type: 'response.file_search_call.searching', ...position }),
      this.#add({ type: 'response.file_search_call.completed', ...position }),
      this.#add({
        type: 'response.output_item.done',
        output_index,
        item: { ...begun, status: 'completed', results },
      }),
    ];
  }

  /** A step of the generation. */
  accept(chunk: GenerationChunk): ResponseEvent[] {
    if (this.finished) return [];
    this.#cutOff ||= chunk.finishReason === 'length';
    this.#usage = chunk.usage ?? this.#usage;
    const events: ResponseEvent[] = [];
    if (chunk.text !== '' || chunk.logprobs?.length) events.push(...this.#delta(chunk));
    if (chunk.citations?.length) events.push(...this.#annotate(chunk.citations));
    return events;
  }

  /** The generation has ended by itself: completed, or incomplete where it was cut off by its token limit. */
  end(): ResponseEvent[] {
    if (this.finished) return [];
    const status = this.#cutOff ? 'incomplete' : 'completed';
    const events = [...this.#openMessage(), ...this.#closeMessage(status)];
    if (this.#cutOff) this.#response.incomplete_details = { reason: 'max_output_tokens' };
    return [...events, this.#finish(status, this.#cutOff ? 'response.incomplete' : 'response.completed')];
  }

  /** The generation was stopped on request. There is no event of that name, so `incomplete` carries the status. */
  cancel(): ResponseEvent[] {
    if (this.finished) return [];
    const events = this.#closeMessage('incomplete');
    return [...events, this.#finish('cancelled', 'response.incomplete')];
  }

  /** The generation broke: an `error` event, then `response.failed`; what was said so far stays in the output. */
  fail(error: MegaNestError): ResponseEvent[] {
    if (this.finished) return [];
    for (const item of this.#response.output) {
      if (item.status === 'in_progress') item.status = 'incomplete';
    }
    this.#message = undefined;
    this.#response.error = responseError(error);
    return [this.#add(errorEvent(error)), this.#finish('failed', 'response.failed')];
  }

  #delta(chunk: GenerationChunk): ResponseEvent[] {
    const opening = this.#openMessage();
    const event = this.#add({
      type: 'response.output_text.delta',
      ...this.#position(),
      delta: chunk.text,
      logprobs: toLogProbs(chunk.logprobs),
    });
    return [...opening, event];
  }

  #annotate(citations: NonNullable<GenerationChunk['citations']>): ResponseEvent[] {
    const opening = this.#openMessage();
    const position = this.#position();
    const first = this.#part().annotations.length;
    const added = fileCitations(citations, this.#documents).map((annotation, index) =>
      this.#add({
        type: 'response.output_text.annotation.added',
        ...position,
        annotation_index: first + index,
        annotation,
      }),
    );
    return [...opening, ...added];
  }

  #openMessage(): ResponseEvent[] {
    if (this.#message) return [];
    const item: OutputMessage = {
      id: newItemId('message'),
      type: 'message',
      role: 'assistant',
      status: 'in_progress',
      content: [],
    };
    const outputIndex = this.#response.output.length;
    this.#message = { id: item.id, outputIndex };
    const part: OutputText = { type: 'output_text', text: '', annotations: [], logprobs: [] };
    return [
      this.#add({ type: 'response.output_item.added', output_index: outputIndex, item }),
      this.#add({ type: 'response.content_part.added', ...this.#position(), part }),
    ];
  }

  #closeMessage(status: ItemStatus): ResponseEvent[] {
    if (!this.#message) return [];
    const position = this.#position();
    const part = this.#part();
    const { text, logprobs } = part;
    const done = [
      this.#add({ type: 'response.output_text.done', ...position, text, logprobs }),
      this.#add({ type: 'response.content_part.done', ...position, part }),
    ];
    const item: OutputMessage = { ...this.#messageItem(), status };
    this.#message = undefined;
    return [
      ...done,
      this.#add({ type: 'response.output_item.done', output_index: position.output_index, item }),
    ];
  }

  #finish(status: ResponseObject['status'], type: LifecycleType): ResponseEvent {
    this.#response.status = status;
    if (this.#usage) this.#response.usage = responseUsage(this.#usage);
    if (status === 'completed') this.#response.completed_at = this.now();
    return this.#lifecycle(type);
  }

  #position() {
    const { id, outputIndex } = this.#openedMessage();
    return { item_id: id, output_index: outputIndex, content_index: 0 };
  }

  #part(): OutputText {
    const part = this.#messageItem().content[0];
    if (!part) throw new Error('The message has no part');
    return part;
  }

  #messageItem(): OutputMessage {
    const item = this.#response.output[this.#openedMessage().outputIndex];
    if (item?.type !== 'message') throw new Error('The open item is no message');
    return item;
  }

  #openedMessage(): OpenMessage {
    if (!this.#message) throw new Error('No message is open');
    return this.#message;
  }

  #lifecycle(type: LifecycleType): ResponseEvent {
    this.#response.output_text = outputText(this.#response.output);
    return this.#add({ type, response: this.#response });
  }

  /** Numbers an event, copies it so that later changes do not reach it, and lets it change the response. */
  #add(event: UnnumberedEvent): ResponseEvent {
    const numbered: ResponseEvent = { ...structuredClone(event), sequence_number: this.#sequence };
    this.#sequence += 1;
    this.#response = applyEvent(this.#response, event);
    return numbered;
  }
}
