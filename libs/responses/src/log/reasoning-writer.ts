import { newItemId } from '../ids.js';
import type { ItemStatus, ReasoningItem } from '../items/output-items.js';
import type { ResponseEvent } from './events.js';
import type { LogWriter } from './log-writer.js';

/** Writes what the model thinks, as the summary of a reasoning item: the one family of events that all clients take. */
export class ReasoningWriter {
  #open: { id: string; index: number } | undefined;

  /** `seal` makes what the caller may send back to have the thoughts remembered. */
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
