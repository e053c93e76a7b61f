import type { GenerationChunk, RetrievedDocument } from '#contracts';
import type { ServerItem } from '../items/output-items.js';
import type { ServerWorkEvent } from './events.js';

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
