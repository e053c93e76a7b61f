import type { Citation, GenerationChunk, RetrievedDocument, TokenLogprob } from '#platform/contracts';
import { newItemId } from '../response-object.js';
import {
  fileCitations,
  type ItemStatus,
  type OutputMessage,
  type OutputRefusal,
  type OutputText,
  type LogProb,
  type ReasoningItem,
} from '../items/output-items.js';
import type { LogWriter } from './event-log.js';
import type { ResponseEvent } from './events.js';

type Part = OutputText | OutputRefusal;

/** A message in progress; `part` is the index of its current part, the last one. */
interface OpenMessage {
  id: string;
  index: number;
  part: number;
  certainty?: GenerationChunk['certainty'];
}

const emptyParts: Readonly<Record<Part['type'], () => Part>> = {
  output_text: () => ({ type: 'output_text', text: '', annotations: [], logprobs: [] }),
  refusal: () => ({ type: 'refusal', refusal: '' }),
};

/** Writes the messages of a response, one at a time, with text parts and refusal parts. */
export class MessageWriter {
  #open: OpenMessage | undefined;

  constructor(private readonly log: LogWriter) {}

  delta(chunk: Pick<GenerationChunk, 'text' | 'logprobs' | 'refusal'>): ResponseEvent[] {
    const type = chunk.refusal ? 'refusal' : 'output_text';
    const opening = this.open(type);
    const position = this.#position();
    const event = chunk.refusal
      ? this.log.add({ type: 'response.refusal.delta', ...position, delta: chunk.text })
      : this.log.add({
          type: 'response.output_text.delta',
          ...position,
          delta: chunk.text,
          logprobs: toLogProbs(chunk.logprobs),
        });
    return [...opening, event];
  }

  /** Adds citations. A citation is dropped if its passage is not among the documents. */
  annotate(citations: readonly Citation[], documents: readonly RetrievedDocument[]): ResponseEvent[] {
    const opening = this.open();
    const position = this.#position();
    const part = this.#part();
    // A refusal does not have citations.
    if (part.type !== 'output_text') return opening;
    const first = part.annotations.length;
    const added = fileCitations(citations, documents).map((annotation, index) =>
      this.log.add({
        type: 'response.output_text.annotation.added',
        ...position,
        annotation_index: first + index,
        annotation,
      }),
    );
    return [...opening, ...added];
  }

  /** Notes what the open message is to the documents; its last event says it. */
  judge(certainty: GenerationChunk['certainty']): void {
    if (this.#open && certainty) this.#open.certainty = certainty;
  }

  /** Opens a message with a part, or a part of that type after the open one; without a type any open part is kept. */
  open(type?: Part['type']): ResponseEvent[] {
    if (!this.#open) return this.#openMessage(type ?? 'output_text');
    if (type === undefined || this.#part().type === type) return [];
    const done = this.#closePart();
    this.#open.part += 1;
    return [...done, this.#openPart(type)];
  }

  close(status: ItemStatus): ResponseEvent[] {
    if (!this.#open) return [];
    const done = this.#closePart();
    const { index: output_index, certainty } = this.#open;
    const judged = certainty && { answer_kind: certainty.kind, confidence: certainty.confidence };
    const item: OutputMessage = { ...this.log.item(output_index, 'message'), status, ...judged };
    this.#open = undefined;
    return [...done, this.log.add({ type: 'response.output_item.done', output_index, item })];
  }

  #openMessage(type: Part['type']): ResponseEvent[] {
    const item: OutputMessage = {
      id: newItemId('message'),
      type: 'message',
      role: 'assistant',
      status: 'in_progress',
      content: [],
    };
    const index = this.log.nextIndex;
    this.#open = { id: item.id, index, part: 0 };
    return [
      this.log.add({ type: 'response.output_item.added', output_index: index, item }),
      this.#openPart(type),
    ];
  }

  #openPart(type: Part['type']): ResponseEvent {
    const part = emptyParts[type]();
    return this.log.add({ type: 'response.content_part.added', ...this.#position(), part });
  }

  #closePart(): ResponseEvent[] {
    const position = this.#position();
    const part = this.#part();
    return [
      part.type === 'refusal'
        ? this.log.add({ type: 'response.refusal.done', ...position, refusal: part.refusal })
        : this.log.add({
            type: 'response.output_text.done',
            ...position,
            text: part.text,
            logprobs: part.logprobs,
          }),
      this.log.add({ type: 'response.content_part.done', ...position, part }),
    ];
  }

  #position() {
    if (!this.#open) throw new Error('No message is open');
    const { id, index, part } = this.#open;
    return { item_id: id, output_index: index, content_index: part };
  }

  #part(): Part {
    const { output_index, content_index } = this.#position();
    const part = this.log.item(output_index, 'message').content[content_index];
    if (!part) throw new Error('The message has no part');
    return part;
  }
}

const encoder = new TextEncoder();

/** Log probabilities in the format of the Responses API; a token without bytes gets the bytes of its text. */
function toLogProbs(logprobs: readonly TokenLogprob[] = []): LogProb[] {
  return logprobs.map(({ token, logprob, bytes, top_logprobs }) => ({
    token,
    logprob,
    bytes: bytesOf(token, bytes),
    top_logprobs: top_logprobs.map((top) => ({ ...top, bytes: bytesOf(top.token, top.bytes) })),
  }));
}

function bytesOf(token: string, bytes: number[] | null): number[] {
  return bytes ?? [...encoder.encode(token)];
}

/** Writes the model's reasoning as the summary of a reasoning item: all clients support these events. */
export class ReasoningWriter {
  #open: { id: string; index: number } | undefined;

  /** `seal` encrypts the reasoning, so that the caller can send it back in a later request. */
  constructor(
    private readonly log: LogWriter,
    private readonly seal?: (text: string) => string,
  ) {}

  delta(text: string): ResponseEvent[] {
    const opening = this.#begin();
    const event = this.log.add({
      type: 'response.reasoning_summary_text.delta',
      ...this.#position(),
      delta: text,
    });
    return [...opening, event];
  }

  close(status: ItemStatus): ResponseEvent[] {
    if (!this.#open) return [];
    const position = this.#position();
    const { output_index } = position;
    const item: ReasoningItem = { ...this.log.item(output_index, 'reasoning'), status };
    const text = item.summary[0]?.text ?? '';
    if (this.seal) item.encrypted_content = this.seal(text);
    this.#open = undefined;
    return [
      this.log.add({ type: 'response.reasoning_summary_text.done', ...position, text }),
      this.log.add({
        type: 'response.reasoning_summary_part.done',
        ...position,
        part: { type: 'summary_text', text },
      }),
      this.log.add({ type: 'response.output_item.done', output_index, item }),
    ];
  }

  #begin(): ResponseEvent[] {
    if (this.#open) return [];
    const item: ReasoningItem = {
      id: newItemId('reasoning'),
      type: 'reasoning',
      status: 'in_progress',
      summary: [],
    };
    const index = this.log.nextIndex;
    this.#open = { id: item.id, index };
    return [
      this.log.add({ type: 'response.output_item.added', output_index: index, item }),
      this.log.add({
        type: 'response.reasoning_summary_part.added',
        ...this.#position(),
        part: { type: 'summary_text', text: '' },
      }),
    ];
  }

  #position() {
    if (!this.#open) throw new Error('No reasoning is open');
    return { item_id: this.#open.id, output_index: this.#open.index, summary_index: 0 };
  }
}
