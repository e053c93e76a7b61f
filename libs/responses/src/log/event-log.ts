import type { GenerationChunk, RetrievedDocument } from '#contracts';
import { outputText, type OutputItem, type ServerItem } from '../items/output-items.js';
import type { ResponseObject } from '../response-object.js';
import { applyEvent } from './apply-event.js';
import { isTerminal, type ResponseEvent, type ServerWorkEvent, type UnnumberedEvent } from './events.js';

/** The log of one response while it grows: any number of readers replay it from any point and then follow it. */
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

  /** Ends the log without a terminal event, because its writer lost it; readers throw. */
  abandon(error: Error): void {
    this.#closed ??= { error };
    this.#wake();
  }

  /** Events behind sequence number `startingAfter` (-1: all), then the coming ones until the log ends. */
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

/** Gives events their numbers, and keeps the response that they lead to. */
export class LogWriter {
  #response: ResponseObject;
  #sequence: number;

  /** `nextSequence` above 0 goes on with a log that another process began. */
  constructor(initial: ResponseObject, nextSequence: number) {
    this.#response = structuredClone(initial);
    this.#sequence = nextSequence;
  }

  /** The response itself, not a copy: for whoever writes the log. */
  get response(): ResponseObject {
    return this.#response;
  }

  /** A copy with its convenience fields brought up to date. */
  snapshot(): ResponseObject {
    this.#response.output_text = outputText(this.#response.output);
    return structuredClone(this.#response);
  }

  /** Where the next item goes. */
  get nextIndex(): number {
    return this.#response.output.length;
  }

  /** The item at a place of the output, which must be of the type. */
  item<Type extends OutputItem['type']>(index: number, type: Type): Extract<OutputItem, { type: Type }> {
    const item = this.#response.output[index];
    if (item?.type !== type) throw new Error(`The item at ${index} is no ${type}`);
    return item as Extract<OutputItem, { type: Type }>;
  }

  /** Numbers an event, copies it so that later changes do not reach it, and lets it change the response. */
  add(event: UnnumberedEvent): ResponseEvent {
    const numbered: ResponseEvent = { ...structuredClone(event), sequence_number: this.#sequence };
    this.#sequence += 1;
    this.#response = applyEvent(this.#response, event);
    return numbered;
  }
}

type PhaseOf<Type> = Type extends `response.${string}.${infer Phase}` ? Phase : never;
/** How far the work behind an item is: `in_progress`, `searching`, `completed`, `failed`. */
export type WorkPhase = PhaseOf<ServerWorkEvent['type']>;

/** What a tool that the server runs shows of its work. */
export type ToolStep =
  /** An item of its own begins: `response.output_item.added`. */
  | { type: 'item_added'; item: ServerItem }
  /** `response.<type of the item>.<phase>`. */
  | { type: 'item_progress'; id: string; phase: WorkPhase }
  /** The arguments of an mcp_call, whole: a delta and its done. */
  | { type: 'item_arguments'; id: string; arguments: string }
  /** The item as it stays: `response.output_item.done`. */
  | { type: 'item_done'; item: ServerItem }
  /** Passages that citations may refer to from now on, beside those before. */
  | { type: 'documents'; documents: readonly RetrievedDocument[] };

/** A step of the making of a response. */
export type MachineStep =
  | ToolStep
  | { type: 'chunk'; chunk: GenerationChunk }
  /** The response is to have no answer: a warm-up, or one that only compacts. */
  | { type: 'no_answer' }
  /** A generation has ended and more of the response follows. */
  | { type: 'turn_end' };
