import type { GenerationChunk, RetrievedDocument } from '#contracts';
import { outputText, type OutputItem, type ServerItem } from '../items/output-items.js';
import type { ResponseObject } from '../response-object.js';
import { applyEvent } from './apply-event.js';
import type { ResponseEvent, ServerWorkEvent, UnnumberedEvent } from './events.js';

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
