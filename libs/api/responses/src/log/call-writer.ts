import { MegaNestError, type ToolCallDelta, type RetrievedDocument } from '#platform/contracts';
import { newId, newItemId } from '../response-object.js';
import {
  type ClientCall,
  type ItemStatus,
  fileSearchResult,
  type FileSearchCall,
  type ServerItem,
} from '../items/output-items.js';
import type { CallTarget } from '../tools/tools.js';
import type { LogWriter, ToolStep, WorkPhase } from './event-log.js';
import type { ResponseEvent, ServerWorkEvent } from './events.js';

interface OpenCall {
  /** Index among the calls of its generation. */
  place: number;
  id: string;
  index: number;
  type: ClientCall['type'];
}

/** Writes the calls for the caller, one at a time. */
export class CallWriter {
  #open: OpenCall | undefined;

  /** `targets`: the tools by the names that the model uses. */
  constructor(
    private readonly log: LogWriter,
    private readonly targets: ReadonlyMap<string, CallTarget>,
  ) {}

  /** Adds a piece of a call. A piece of another call ends the previous call. Errors: bad_upstream for an ended call. */
  delta(piece: ToolCallDelta): ResponseEvent[] {
    const opening = this.#open?.place === piece.index ? [] : this.#begin(piece);
    if (piece.input === '') return opening;
    const { id: item_id, index: output_index, type } = this.#current();
    const event =
      type === 'function_call'
        ? ('response.function_call_arguments.delta' as const)
        : ('response.custom_tool_call_input.delta' as const);
    return [...opening, this.log.add({ type: event, item_id, output_index, delta: piece.input })];
  }

  close(status: ItemStatus): ResponseEvent[] {
    if (!this.#open) return [];
    const { id: item_id, index: output_index, type } = this.#open;
    this.#open = undefined;
    const item: ClientCall = { ...this.log.item(output_index, type), status };
    const position = { item_id, output_index };
    const done =
      item.type === 'function_call'
        ? this.log.add({
            type: 'response.function_call_arguments.done',
            ...position,
            name: item.name,
            arguments: item.arguments,
          })
        : this.log.add({ type: 'response.custom_tool_call_input.done', ...position, input: item.input });
    return [done, this.log.add({ type: 'response.output_item.done', output_index, item })];
  }

  #begin({ index: place, id: callId, name, kind }: ToolCallDelta): ResponseEvent[] {
    if (name === undefined)
      throw new MegaNestError('bad_upstream', { service: 'llm', detail: 'a tool call without a name' });
    const closing = this.close('completed');
    const target = this.targets.get(name) ?? { type: kind ?? 'function', name };
    const type = target.type === 'custom' ? 'custom_tool_call' : 'function_call';
    const common = {
      id: newItemId(type),
      status: 'in_progress' as const,
      call_id: callId ?? newId('call'),
      name: target.name,
      ...(target.namespace !== undefined && { namespace: target.namespace }),
    };
    const item: ClientCall =
      type === 'function_call' ? { ...common, type, arguments: '' } : { ...common, type, input: '' };
    const index = this.log.nextIndex;
    this.#open = { place, id: item.id, index, type };
    return [...closing, this.log.add({ type: 'response.output_item.added', output_index: index, item })];
  }

  #current(): OpenCall {
    if (!this.#open) throw new Error('No call is open');
    return this.#open;
  }
}

/** Writes the items for work of the server; several may be open at once. */
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

  /** Ends the open items, because the response ends. */
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
  queries: readonly string[];
  documents: readonly RetrievedDocument[];
  /** Include the found passages in the item. */
  includeResults: boolean;
}

/** The steps of a finished retrieval; citations resolve to its passages. */
export function fileSearchSteps({ queries, documents, includeResults }: ShownSearch): ToolStep[] {
  const item: FileSearchCall = {
    id: newItemId('file_search_call'),
    type: 'file_search_call',
    status: 'in_progress',
    queries: [...queries],
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
