import type { ToolCallDelta } from '#contracts';

/** A call in an answer. */
export type CompletionToolCall =
  | { id: string; type: 'function'; function: { name: string; arguments: string } }
  | { id: string; type: 'custom'; custom: { name: string; input: string } };

/** A piece of a call in a stream: the first one of each index has id, type and name. */
export interface ToolCallPiece {
  index: number;
  id?: string;
  type?: 'function' | 'custom';
  function?: { name?: string; arguments: string };
  custom?: { name?: string; input: string };
}

/** Gathers the pieces of one answer's calls. */
export class GatheredCalls {
  readonly #calls = new Map<number, CompletionToolCall>();

  get all(): CompletionToolCall[] {
    return [...this.#calls.entries()].sort(([a], [b]) => a - b).map(([, call]) => call);
  }

  add(delta: ToolCallDelta): void {
    const call = this.#calls.get(delta.index) ?? newCall(delta);
    this.#calls.set(delta.index, call);
    if (call.type === 'function') call.function.arguments += delta.input;
    else call.custom.input += delta.input;
  }
}

/** Turns the pieces of one answer's calls into OpenAI's; remembers which call is of which type. */
export class CallPieces {
  readonly #types = new Map<number, 'function' | 'custom'>();

  piece({ index, id, name, kind, input }: ToolCallDelta): ToolCallPiece {
    const type = this.#types.get(index) ?? kind ?? 'function';
    const first = !this.#types.has(index);
    this.#types.set(index, type);
    const named = first ? { name: name ?? '' } : {};
    return {
      index,
      ...(first && { id: id ?? `call_${index}`, type }),
      ...(type === 'function' && { function: { ...named, arguments: input } }),
      ...(type === 'custom' && { custom: { ...named, input } }),
    };
  }
}

function newCall({ index, id, name, kind }: ToolCallDelta): CompletionToolCall {
  const callId = id ?? `call_${index}`;
  if (kind === 'custom') return { id: callId, type: 'custom', custom: { name: name ?? '', input: '' } };
  return { id: callId, type: 'function', function: { name: name ?? '', arguments: '' } };
}
