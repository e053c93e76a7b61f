import type { Citation, GenerationChunk, RetrievedDocument } from '#contracts';
import { newItemId } from '../ids.js';
import { fileCitations } from '../items/documents.js';
import type { ItemStatus, OutputMessage, OutputText } from '../items/output-items.js';
import type { ResponseEvent } from './events.js';
import { toLogProbs } from './log-probs.js';
import type { LogWriter } from './log-writer.js';

/** Writes the messages of a response, one at a time. */
export class MessageWriter {
  #open: { id: string; index: number } | undefined;

  constructor(private readonly log: LogWriter) {}

  delta(chunk: Pick<GenerationChunk, 'text' | 'logprobs'>): ResponseEvent[] {
    const opening = this.open();
    const event = this.log.add({
      type: 'response.output_text.delta',
      ...this.#position(),
      delta: chunk.text,
      logprobs: toLogProbs(chunk.logprobs),
    });
    return [...opening, event];
  }

  /** Citations of passages that are not among the documents are dropped: they would point nowhere. */
  annotate(citations: readonly Citation[], documents: readonly RetrievedDocument[]): ResponseEvent[] {
    const opening = this.open();
    const position = this.#position();
    const first = this.#part().annotations.length;
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

  open(): ResponseEvent[] {
    if (this.#open) return [];
    const item: OutputMessage = {
      id: newItemId('message'),
      type: 'message',
      role: 'assistant',
      status: 'in_progress',
      content: [],
    };
    const index = this.log.nextIndex;
    this.#open = { id: item.id, index };
    const part: OutputText = { type: 'output_text', text: '', annotations: [], logprobs: [] };
    return [
      this.log.add({ type: 'response.output_item.added', output_index: index, item }),
      this.log.add({ type: 'response.content_part.added', ...this.#position(), part }),
    ];
  }

  close(status: ItemStatus): ResponseEvent[] {
    if (!this.#open) return [];
    const position = this.#position();
    const part = this.#part();
    const { text, logprobs } = part;
    const done = [
      this.log.add({ type: 'response.output_text.done', ...position, text, logprobs }),
      this.log.add({ type: 'response.content_part.done', ...position, part }),
    ];
    const item: OutputMessage = { ...this.log.item(position.output_index, 'message'), status };
    this.#open = undefined;
    const { output_index } = position;
    return [...done, this.log.add({ type: 'response.output_item.done', output_index, item })];
  }

  #position() {
    if (!this.#open) throw new Error('No message is open');
    return { item_id: this.#open.id, output_index: this.#open.index, content_index: 0 };
  }

  #part(): OutputText {
    const part = this.log.item(this.#position().output_index, 'message').content[0];
    if (!part) throw new Error('The message has no part');
    return part;
  }
}
