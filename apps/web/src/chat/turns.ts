import type OpenAI from 'openai';

/** A passage that was found for a question. */
export interface Passage {
  documentId: string;
  filename: string;
  text: string;
  score: number;
  /** Position of the passage in its document. */
  index?: number;
  heading?: string;
  page?: number;
}

/** An item of a response, as it is written or as a conversation keeps it. */
export type OutputItem = OpenAI.Responses.ResponseOutputItem | OpenAI.Conversations.ConversationItem;

/** A question and what came of it. */
export interface Turn {
  /** The id of the question's item, or of the response that is on its way. */
  id: string;
  question: string;
  /** Every stored item of the turn: they go when the question is asked again. */
  itemIds: string[];
  output: OutputItem[];
  /** While the answer is written, and how it ended. */
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
    }
  }
  return turns;
}

/** The text of a message, whichever parts it has. */
export function textOf(message: { content: readonly object[] }): string {
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

/** The passages of a turn, in the order of the numbers in its answer. */
export function passagesOf({ output }: Pick<Turn, 'output'>): Passage[] {
  return output.flatMap((item) => {
    if (item.type !== 'file_search_call') return [];
    return (item.results ?? []).map(({ file_id = '', filename = '', text = '', score = 0, attributes }) => {
      const { document_id, chunk_index, heading, page } = attributes ?? {};
      return {
        documentId: typeof document_id === 'string' ? document_id : file_id,
        filename,
        text,
        score,
        ...(typeof chunk_index === 'number' && { index: chunk_index }),
        ...(typeof heading === 'string' && { heading }),
        ...(typeof page === 'number' && { page }),
      };
    });
  });
}

/** Where an annotation cites which page of which document. */
export interface CitedPage {
  /** Offset in the answer behind the cited text. */
  index: number;
  documentId: string;
  page: number;
}

/** The pages that the annotations of an answer name. */
export function citedPages({ output }: Pick<Turn, 'output'>): CitedPage[] {
  const pages: CitedPage[] = [];
  let before = 0;
  for (const item of output) {
    if (item.type !== 'message') continue;
    for (const part of item.content) {
      if (part.type !== 'output_text') continue;
      for (const annotation of part.annotations) {
        const { page } = annotation as { page?: unknown };
        if (annotation.type === 'file_citation' && typeof page === 'number')
          pages.push({ index: before + annotation.index, documentId: annotation.file_id, page });
      }
    }
    // Messages are joined by an empty line.
    before += textOf(item).length + 2;
  }
  return pages;
}

/** The page that the citation of a document at an offset means: that of its nearest annotation. */
export function pageAt(pages: readonly CitedPage[], documentId: string, offset: number): number | undefined {
  const own = pages.filter((page) => page.documentId === documentId);
  const distance = ({ index }: CitedPage) => Math.abs(index - offset);
  return own.toSorted((a, b) => distance(a) - distance(b))[0]?.page;
}

/** The documents that the annotations of an answer name, each once. */
export function citedFiles({ output }: Pick<Turn, 'output'>): { documentId: string; filename: string }[] {
  const files = new Map<string, string>();
  for (const item of output) {
    if (item.type !== 'message') continue;
    for (const part of item.content) {
      if (part.type !== 'output_text') continue;
      for (const annotation of part.annotations)
        if (annotation.type === 'file_citation') files.set(annotation.file_id, annotation.filename);
    }
  }
  return [...files].map(([documentId, filename]) => ({ documentId, filename }));
}
