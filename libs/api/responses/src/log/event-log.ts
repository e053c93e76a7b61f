import type { GenerationChunk, RetrievedDocument } from '#platform/contracts';
import { outputText, type OutputItem, type ServerItem } from '../items/output-items.js';
import type { ResponseObject } from '../response-object.js';
import { applyEvent } from './apply-event.js';
import { isTerminal, type ResponseEvent, type ServerWorkEvent, type UnnumberedEvent } from './events.js';

/** The growing log of one response: any number of readers replay it from any point and then follow it. */
export class EventLog {
  readonly #events: ResponseEvent[] = [];
  readonly #waiting = new Set<() => void>();
  #closed: { error?: Error } | undefined;

  get events(): readonly ResponseEvent[] {
    return this.#events;
  }

  /** Adds events; the terminal one closes the log. */
  append(events: readonly ResponseEvent[]): void {
    if (this.#closed || events.length === 0) return;
    this.#events.push(...events);
    if (events.some(isTerminal)) this.#closed = {};
    this.#wake();
  }

  /** Ends the log without a terminal event, because its writer cannot continue it; readers throw. */
  abandon(error: Error): void {
    this.#closed ??= { error };
    this.#wake();
  }

  /** Yields the events after sequence number `startingAfter` (-1: all), then new events until the log ends. */
  async *follow(startingAfter = -1, signal?: AbortSignal): AsyncGenerator<ResponseEvent, void, void> {
    const first = this.#events[0]?.sequence_number ?? 0;
    let index = Math.max(0, startingAfter + 1 - first);
    for (;;) {
      if (signal?.aborted) return;
      const event = this.#events[index];
      if (event) {
        index += 1;
        yield event;
      } else if (this.#closed) {
        if (this.#closed.error) throw this.#closed.error;
        return;
      } else await this.#change(signal);
    }
  }

  #change(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.#waiting.delete(wake);
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      this.#waiting.add(wake);
      signal?.addEventListener('abort', wake, { once: true });
    });
  }

  #wake(): void {
    const waiting = [...this.#waiting];
    for (const wake of waiting) wake();
  }
}

/** Numbers events, and keeps the response up to date. */
export class LogWriter {
  #response: ResponseObject;
  #sequence: number;

  /** `nextSequence` above 0 continues a log that another process began. */
  constructor(initial: ResponseObject, nextSequence: number) {
    this.#response = structuredClone(initial);
    this.#sequence = nextSequence;
  }

  /** The response itself, not a copy, for writers of the log. */
  get response(): ResponseObject {
    return this.#response;
  }

  /** Returns a copy with `output_text` set. */
  snapshot(): ResponseObject {
    this.#response.output_text = outputText(this.#response.output);
    return structuredClone(this.#response);
  }

  /** Index of the next item. */
  get nextIndex(): number {
    return this.#response.output.length;
  }

  /** Returns the item at an index of the output; it must have the type. */
  item<Type extends OutputItem['type']>(index: number, type: Type): Extract<OutputItem, { type: Type }> {
    const item = this.#response.output[index];
    if (item?.type !== type) throw new Error(`The item at ${index} is not a ${type}`);
    return item as Extract<OutputItem, { type: Type }>;
  }

  /** Numbers an event, copies it so that later changes do not affect it, and applies it to the response. */
  add(event: UnnumberedEvent): ResponseEvent {
    const numbered: ResponseEvent = { ...structuredClone(event), sequence_number: this.#sequence };
    this.#sequence += 1;
    this.#response = applyEvent(this.#response, event);
    return numbered;
  }
}

type PhaseOf<Type> = Type extends `response.${string}.${infer Phase}` ? Phase : never;
/** Phase of the work for an item: `in_progress`, `searching`, `completed`, `failed`. */
export type WorkPhase = PhaseOf<ServerWorkEvent['type']>;

/** A step of a tool that the server runs, for the log. */
export type ToolStep =
  /** An item begins: `response.output_item.added`. */
  | { type: 'item_added'; item: ServerItem }
  /** `response.<type of the item>.<phase>`. */
  | { type: 'item_progress'; id: string; phase: WorkPhase }
  /** The complete arguments of an mcp_call: one delta event and one done event. */
  | { type: 'item_arguments'; id: string; arguments: string }
  /** The final item: `response.output_item.done`. */
  | { type: 'item_done'; item: ServerItem }
  /** Further passages that citations may refer to. */
  | { type: 'documents'; documents: readonly RetrievedDocument[] };

/** A step of a response. */
export type MachineStep =
  | ToolStep
  | { type: 'chunk'; chunk: GenerationChunk }
  /** The response will not have an answer: it is a warm-up, or it only compacts. */
  | { type: 'no_answer' }
  /** A generation has ended, and the response continues. */
  | { type: 'turn_end' };
