import type OpenAI from 'openai';

/** A search result for a question. */
export interface Passage {
  documentId: string;
  filename: string;
  text: string;
  score: number;
  chunkId?: string;
  /** Position of the passage in its document. */
  index?: number;
  heading?: string;
  page?: number;
  /** What the page is called, where that is not its number. */
  pageLabel?: string;
  /** When it is said in a recording, such as 1:23–1:41. */
  time?: string;
}

/** An item of a running response or of a stored conversation. */
export type OutputItem = OpenAI.Responses.ResponseOutputItem | OpenAI.Conversations.ConversationItem;

/** A question and the output of its response. */
export interface Turn {
  /** Id of the question's item, or of the running response. */
  id: string;
  question: string;
  /** Ids of all stored items of the turn. They are deleted when the question is asked again. */
  itemIds: string[];
  output: OutputItem[];
  /** State of the answer. */
  state: 'queued' | 'running' | 'done' | 'cancelled' | 'failed' | 'incomplete';
  error?: string;
}

/** Groups the items of a conversation by question, oldest first. */
export function toTurns(items: readonly OpenAI.Conversations.ConversationItem[]): Turn[] {
  const turns: Turn[] = [];
  for (const item of items) {
    const id = item.id ?? '';
    const last = turns.at(-1);
    if (item.type === 'message' && item.role === 'user') {
      turns.push({ id, question: textOf(item), itemIds: [id], output: [], state: 'done' });
    } else if (last) {
      last.itemIds.push(id);
      last.output.push(item);
      if (isPartial(item))
        last.state = item.incomplete_details?.reason === stoppedByUser ? 'cancelled' : 'incomplete';
    }
  }
  return turns;
}

/** Reason in the item of an answer that the user stopped. Otherwise a limit of the model ended a partial answer. */
const stoppedByUser = 'stopped_by_user';

function isPartial(item: OutputItem): item is OutputItem & { incomplete_details?: { reason?: string } } {
  return item.type === 'message' && item.status === 'incomplete';
}

/**
 * The items that keep a stopped answer in its conversation: the question, the searches with their passages, and the
 * partial text with its citations. The gateway does not add the items of a cancelled response.
 */
export function stoppedItems({ question, output }: Turn): OpenAI.Responses.ResponseInputItem[] {
  const searches = output.flatMap((item) => {
    if (item.type !== 'file_search_call' || !item.results) return [];
    const { id: _ofResponse, ...search } = item;
    return [{ ...search, status: 'completed' as const }];
  });
  const content = output.flatMap((item) => (item.type === 'message' ? item.content : []));
  const answer = {
    type: 'message',
    role: 'assistant',
    status: 'incomplete',
    incomplete_details: { reason: stoppedByUser },
    content: content.length > 0 ? content : [{ type: 'output_text', text: '', annotations: [] }],
  };
  const items = [{ type: 'message', role: 'user', content: question }, ...searches, answer];
  // The gateway numbers the items, and keeps the reason.
  return items as OpenAI.Responses.ResponseInputItem[];
}

/** The text of a message with any kinds of parts. */
function textOf(message: { content: readonly object[] }): string {
  return message.content
    .map((part) => {
      if ('text' in part && typeof part.text === 'string') return part.text;
      return 'refusal' in part && typeof part.refusal === 'string' ? part.refusal : '';
    })
    .join('');
}

/** The text of a turn's answer. */
export function answerOf({ output }: Pick<Turn, 'output'>): string {
  return output
    .filter((item) => item.type === 'message')
    .map(textOf)
    .join('\n\n');
}

/** The passages of a turn: the cited ones in the order of the numbers in its answer, then the others. */
export function passagesOf({ output }: Pick<Turn, 'output'>): Passage[] {
  const found = foundPassages(output);
  const cited = new Set(
    citationsOf(output).flatMap(({ chunkId }) => {
      const passage = chunkId === undefined ? undefined : found.find((each) => each.chunkId === chunkId);
      return passage ?? [];
    }),
  );
  return [...cited, ...found.filter((passage) => !cited.has(passage))];
}

/** The queries with which the documents were searched for a turn, each once. */
export function queriesOf({ output }: Pick<Turn, 'output'>): string[] {
  return [...new Set(output.flatMap((item) => (item.type === 'file_search_call' ? item.queries : [])))];
}

/** The passages that the numbers of an answer name. None before the answer has citations: an engine is still writing. */
export function numberedPassages(turn: Pick<Turn, 'output'>): Passage[] {
  return citationsOf(turn.output).length > 0 ? passagesOf(turn) : [];
}

function foundPassages(output: Turn['output']): Passage[] {
  return output.flatMap((item) => {
    if (item.type !== 'file_search_call') return [];
    return (item.results ?? []).map(({ file_id = '', filename = '', text = '', score = 0, attributes }) => {
      const { document_id, chunk_id, chunk_index, heading, page, time } = attributes ?? {};
      return {
        documentId: typeof document_id === 'string' ? document_id : file_id,
        filename,
        text,
        score,
        ...(typeof chunk_id === 'string' && { chunkId: chunk_id }),
        ...(typeof chunk_index === 'number' && { index: chunk_index }),
        ...(typeof heading === 'string' && { heading }),
        ...(typeof page === 'number' && { page }),
        ...(typeof time === 'string' && { time }),
      };
    });
  });
}

/** A document that an annotation of an answer cites. */
interface Citation {
  /** Offset in the answer after the cited text. */
  index: number;
  documentId: string;
  filename: string;
  page: unknown;
  time: unknown;
  pageLabel: unknown;
  /** The cited passage. Absent in answers of earlier versions, whose numbers are those of the search. */
  chunkId: string | undefined;
  /** The cited sentence in the words of the document. */
  quote: string | undefined;
}

/** Where a citation is in the answer and in its document. */
export type CitedPlace = Pick<Citation, 'index' | 'documentId' | 'quote'> & {
  page?: number;
  pageLabel?: string;
  time?: string;
};

function citationsOf(output: Turn['output']): Citation[] {
  const citations: Citation[] = [];
  let before = 0;
  for (const item of output) {
    if (item.type !== 'message') continue;
    for (const part of item.content) {
      if (part.type !== 'output_text') continue;
      for (const annotation of part.annotations) {
        if (annotation.type !== 'file_citation') continue;
        const extended = {
          page: undefined,
          page_label: undefined,
          time: undefined,
          chunk_id: undefined,
          quote: undefined,
          ...annotation,
        };
        const {
          index,
          file_id: documentId,
          filename,
          page,
          page_label: pageLabel,
          time,
          chunk_id: chunkId,
          quote,
        } = extended;
        citations.push({
          index: before + index,
          documentId,
          filename,
          page,
          pageLabel,
          time,
          chunkId,
          quote,
        });
      }
    }
    // An empty line separates messages.
    before += textOf(item).length + 2;
  }
  return citations;
}

/** The places in the annotations of an answer. */
export function citedPlaces({ output }: Pick<Turn, 'output'>): CitedPlace[] {
  return citationsOf(output).map(({ index, documentId, page, pageLabel, time, quote }) => ({
    index,
    documentId,
    quote,
    ...(typeof page === 'number' && { page }),
    ...(typeof pageLabel === 'string' && { pageLabel }),
    ...(typeof time === 'string' && { time }),
  }));
}

/** The place for the citation of a document at an offset: that of the nearest annotation. */
export function placeAt(
  places: readonly CitedPlace[],
  documentId: string,
  offset: number,
): CitedPlace | undefined {
  const own = places.filter((place) => place.documentId === documentId);
  const distance = ({ index }: CitedPlace) => Math.abs(index - offset);
  return own.toSorted((a, b) => distance(a) - distance(b))[0];
}

/** The documents in the annotations of an answer, without duplicates. */
export function citedFiles({ output }: Pick<Turn, 'output'>): { documentId: string; filename: string }[] {
  const files = new Map(citationsOf(output).map(({ documentId, filename }) => [documentId, filename]));
  return [...files].map(([documentId, filename]) => ({ documentId, filename }));
}

type Event = OpenAI.Responses.ResponseStreamEvent;
type Response = OpenAI.Responses.Response;

/** Returns the turn after an event of its response. Events without a visible change return the same object. */
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
      return changeText(turn, event, (part) => ({ ...part, text: part.text + event.delta }));
    case 'response.output_text.annotation.added':
      return changeText(turn, event, (part) => ({
        ...part,
        annotations: [...part.annotations, event.annotation as (typeof part.annotations)[number]],
      }));
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

type TextPart = Extract<Content[number], { type: 'output_text' }>;

function changeText(
  turn: Turn,
  at: { output_index: number; content_index: number },
  change: (part: TextPart) => TextPart,
): Turn {
  return changeMessage(turn, at.output_index, (content) =>
    content.map((part, index) =>
      index === at.content_index && part.type === 'output_text' ? change(part) : part,
    ),
  );
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

/** Returns the turn with the output and the state of a response. */
export function ended(turn: Turn, response: Response): Turn {
  const state = states[response.status ?? ''] ?? turn.state;
  return {
    ...turn,
    state,
    output: response.output,
    ...(response.error && { error: response.error.message }),
  };
}

/** Handles a cancelled response: the types of the official client do not have this event. */
function changedByName(turn: Turn, event: Event): Turn {
  const { type, response } = event as { type: string; response?: Response };
  return type === 'response.cancelled' && response ? ended(turn, response) : turn;
}

/** A conversation as Markdown: questions as headings, and the cited sources below each answer. */
export function toMarkdown(title: string, turns: readonly Turn[]): string {
  const parts = turns.map((turn) => {
    const answer = answerOf(turn);
    return [`## ${turn.question}`, answer, sourcesOf(turn, answer)].filter(Boolean).join('\n\n');
  });
  return `${[`# ${title}`, ...parts].join('\n\n')}\n`;
}

function sourcesOf(turn: Turn, answer: string): string {
  const lines = passagesOf(turn).flatMap(({ filename, page, time, heading }, index) => {
    if (!answer.includes(`[${index + 1}]`)) return [];
    const place = [heading, page && `p. ${page}`, time].filter(Boolean).join(', ');
    return [`- [${index + 1}] ${filename}${place ? ` (${place})` : ''}`];
  });
  return lines.join('\n');
}
