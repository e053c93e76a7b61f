import type OpenAI from 'openai';
import type { Turn } from './turns';

type Event = OpenAI.Responses.ResponseStreamEvent;
type Response = OpenAI.Responses.Response;

/** The turn after an event of its response. Events that change nothing visible give the same turn back. */
export function applyEvent(turn: Turn, event: Event): Turn {
  switch (event.type) {
    case 'response.queued':
      return { ...turn, state: 'queued' };
    case 'response.created':
    case 'response.in_progress':
      return { ...turn, state: 'running' };
    case 'response.output_item.added':
    case 'response.output_item.done':
      return { ...turn, output: replaced(turn.output, event.output_index, event.item) };
    case 'response.content_part.added':
      return changeMessage(turn, event.output_index, (content) =>
        event.part.type === 'output_text' || event.part.type === 'refusal'
          ? [...content, event.part]
          : content,
      );
    case 'response.output_text.delta':
      return changeMessage(turn, event.output_index, (content) =>
        content.map((part, index) =>
          index === event.content_index && part.type === 'output_text'
            ? { ...part, text: part.text + event.delta }
            : part,
        ),
      );
    case 'response.output_text.annotation.added':
      return changeMessage(turn, event.output_index, (content) =>
        content.map((part, index) =>
          index === event.content_index && part.type === 'output_text'
            ? {
                ...part,
                annotations: [...part.annotations, event.annotation as (typeof part.annotations)[number]],
              }
            : part,
        ),
      );
    case 'response.completed':
    case 'response.incomplete':
    case 'response.failed':
      return ended(turn, event.response);
    case 'error':
      return { ...turn, state: 'failed', error: event.message };
    default:
      return changedByName(turn, event);
  }
}

type Content = OpenAI.Responses.ResponseOutputMessage['content'];

function changeMessage(turn: Turn, at: number, change: (content: Content) => Content): Turn {
  const item = turn.output[at];
  if (item?.type !== 'message') return turn;
  const message = item as OpenAI.Responses.ResponseOutputMessage;
  return { ...turn, output: replaced(turn.output, at, { ...message, content: change(message.content) }) };
}

function replaced(output: Turn['output'], at: number, item: Turn['output'][number]): Turn['output'] {
  const copy = [...output];
  copy[at] = item;
  return copy;
}

const states: Readonly<Record<string, Turn['state']>> = {
  completed: 'done',
  cancelled: 'cancelled',
  incomplete: 'incomplete',
  failed: 'failed',
};

/** The turn of a response that has ended, or that was read as it is now. */
export function ended(turn: Turn, response: Response): Turn {
  const state = states[response.status ?? ''] ?? turn.state;
  return {
    ...turn,
    state,
    output: response.output,
    ...(response.error && { error: response.error.message }),
  };
}

/** The official client's types have no event for a cancelled response. */
function changedByName(turn: Turn, event: Event): Turn {
  const { type, response } = event as { type: string; response?: Response };
  return type === 'response.cancelled' && response ? ended(turn, response) : turn;
}
