import type { RetrievedDocument } from './documents.js';
import type { AttachedFile, ChatFile, ChatMessage } from './services/llm.js';

/**
 * The field `attached` of a part whose text the gateway read from a file. A class, because only code makes its
 * instances: the JSON of a request cannot name the caller's own text a file.
 */
export class AttachedFileMark {
  constructor(readonly file: AttachedFile) {}
}

/** The file whose text a part of a message contains; undefined for other parts. */
export function attachedFileOf({ attached }: Readonly<Record<string, unknown>>): AttachedFile | undefined {
  return attached instanceof AttachedFileMark ? attached.file : undefined;
}

/** Whether a passage is of a file in a message, and not of a search. */
export function isAttached({ metadata }: Pick<RetrievedDocument, 'metadata'>): boolean {
  return metadata['attached'] === true;
}

/** The text of a file in a message. Models that write know the file by its name. */
export function textOfAttached({ filename }: AttachedFile, text: string): string {
  return `${nameLine(filename)}${text}`;
}

function nameLine(filename: string): string {
  return `${filename}:\n`;
}

/** The files of a turn of the user, with their texts. */
export function filesOf({ role, content, files = [] }: ChatMessage): (AttachedFile & { text: string })[] {
  if (role !== 'user') return [];
  return files.map(({ at, length, ...file }) => {
    const text = content.slice(at, at + length);
    const line = nameLine(file.filename);
    return { ...file, text: text.startsWith(line) ? text.slice(line.length) : text };
  });
}

/** A turn of the user without the texts of its files: the question. Other turns stay unchanged. */
export function withoutFiles(message: ChatMessage): ChatMessage {
  const { files = [], ...rest } = message;
  if (files.length === 0 || message.role !== 'user') return message;
  const spans: Change[] = [];
  for (const { at, length } of files) {
    // The line break that joined the file to the text after it; for the last part, to the text before it.
    const end = at + length;
    const isLast = end >= rest.content.length;
    const start = isLast && at > (spans.at(-1)?.end ?? 0) ? at - 1 : at;
    spans.push({ start, end: isLast ? end : end + 1, length: 0 });
  }
  let content = '';
  let from = 0;
  for (const { start, end } of spans) {
    content += rest.content.slice(from, start);
    from = end;
  }
  content = (content + rest.content.slice(from)).trimEnd();
  const images = rest.images?.map((image) =>
    image.at === undefined ? image : { ...image, at: Math.min(moved(image.at, spans), content.length) },
  );
  return { ...rest, content, ...(images && { images }) };
}

/** A replaced range of a text, and the length of its replacement. */
export interface Change {
  start: number;
  end: number;
  length: number;
}

/** The files of a turn after ranges of its content were replaced. */
export function moveFiles(files: readonly ChatFile[], changes: readonly Change[]): ChatFile[] {
  return files.map((file) => {
    const at = moved(file.at, changes);
    return { ...file, at, length: moved(file.at + file.length, changes) - at };
  });
}

/** The new index of a character. An index within a replaced range moves to the end of the replacement. */
function moved(index: number, changes: readonly Change[]): number {
  return changes.reduce((sum, { start, end, length }) => {
    if (start >= index) return sum;
    return sum + length - (Math.min(end, index) - start);
  }, index);
}
