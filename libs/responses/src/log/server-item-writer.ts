import type { RetrievedDocument } from '#contracts';
import { newItemId } from '../ids.js';
import { fileSearchResult } from '../items/documents.js';
import type { FileSearchCall, ServerItem } from '../items/output-items.js';
import type { ResponseEvent, ServerWorkEvent } from './events.js';
import type { LogWriter, ToolStep, WorkPhase } from './log-writer.js';

/** Writes the items of the work that the server does itself; several may be open at once. */
export class ServerItemWriter {
  readonly #open = new Map<string, number>();

  constructor(private readonly log: LogWriter) {}

  add(item: ServerItem): ResponseEvent[] {
    const output_index = this.log.nextIndex;
    this.#open.set(item.id, output_index);
    return [this.log.add({ type: 'response.output_item.added', output_index, item })];
  }

  progress(id: string, phase: WorkPhase): ResponseEvent[] {
    const output_index = this.#index(id);
    const itemType = this.log.response.output[output_index]?.type ?? '';
    const type = `response.${itemType}.${phase}` as ServerWorkEvent['type'];
    return [this.log.add({ type, item_id: id, output_index })];
  }

  arguments(id: string, text: string): ResponseEvent[] {
    const position = { item_id: id, output_index: this.#index(id) };
    return [
      this.log.add({ type: 'response.mcp_call_arguments.delta', ...position, delta: text }),
      this.log.add({ type: 'response.mcp_call_arguments.done', ...position, arguments: text }),
    ];
  }

  done(item: ServerItem): ResponseEvent[] {
    const output_index = this.#index(item.id);
    this.#open.delete(item.id);
    return [this.log.add({ type: 'response.output_item.done', output_index, item })];
  }

  /** Ends what is still open, because the response ends. */
  interrupt(): ResponseEvent[] {
    return [...this.#open.values()].flatMap((index) => {
      const item = this.log.response.output[index] as ServerItem;
      return this.done('status' in item ? { ...item, status: 'incomplete' } : item);
    });
  }

  #index(id: string): number {
    const index = this.#open.get(id);
    if (index === undefined) throw new Error(`No item ${id} is open`);
    return index;
  }
}

export interface ShownSearch {
  query: string;
  documents: readonly RetrievedDocument[];
  /** The item shows what was found. */
  includeResults: boolean;
}

/** The steps of a retrieval that has happened already; its passages are what citations resolve to. */
export function fileSearchSteps({ query, documents, includeResults }: ShownSearch): ToolStep[] {
  const item: FileSearchCall = {
    id: newItemId('file_search_call'),
    type: 'file_search_call',
    status: 'in_progress',
    queries: [query],
    results: null,
  };
  const { id } = item;
  const results = includeResults ? documents.map(fileSearchResult) : null;
  return [
    { type: 'documents', documents },
    { type: 'item_added', item },
    { type: 'item_progress', id, phase: 'in_progress' },
    { type: 'item_progress', id, phase: 'searching' },
    { type: 'item_progress', id, phase: 'completed' },
    { type: 'item_done', item: { ...item, status: 'completed', results } },
  ];
}
