import type { Tool, ToolCallDelta } from '#contracts';
import type { GenerationEvent } from '#generation';
import { RawInput } from './raw-input.js';

/** Calls of an engine that finds them itself: custom tools, which are functions to it, get their raw input back. */
export async function* readNativeCalls(
  events: AsyncIterable<GenerationEvent>,
  tools: readonly Tool[],
  newCallId: () => string,
): AsyncGenerator<GenerationEvent, void, void> {
  const custom = new Set(tools.filter(({ type }) => type === 'custom').map(({ name }) => name));
  const inputs = new Map<string, RawInput>();
  const called = new Set<number>();
  for await (const event of events) {
    const key = (piece: ToolCallDelta) => `${event.choice}.${piece.index}`;
    const toolCalls = event.toolCalls?.map((piece): ToolCallDelta => {
      called.add(event.choice);
      if (piece.name === undefined)
        return { ...piece, input: inputs.get(key(piece))?.push(piece.input) ?? piece.input };
      const isCustom = custom.has(piece.name);
      const kind = isCustom ? ('custom' as const) : ('function' as const);
      const raw = isCustom ? new RawInput() : undefined;
      if (raw) inputs.set(key(piece), raw);
      return { ...piece, id: piece.id ?? newCallId(), kind, input: raw?.push(piece.input) ?? piece.input };
    });
    // Some engines end an answer with calls as `stop`.
    const isCall = event.finishReason === 'stop' && called.has(event.choice);
    yield {
      ...event,
      ...(toolCalls && { toolCalls }),
      ...(isCall && { finishReason: 'tool_calls' as const }),
    };
  }
}
