import type { DocumentBlock, SearchResultBlock } from './blocks.js';

/** A document or a search result of a request, which citations of the answer may name. */
export interface AttachedSource {
  kind: 'document' | 'search_result';
  /** Its position among the sources of its kind in all messages. */
  index: number;
  title: string | null;
  /** The name of its file, by which a citation finds it. */
  filename: string;
  /** The client asks for citations. */
  isCited: boolean;
  /** Its text, or the texts of its blocks; absent for a file that the gateway reads. */
  texts?: readonly string[];
  /** Its blocks are cited by their numbers, and a text by its characters. */
  hasBlocks: boolean;
  /** Of a search result. */
  source?: string;
}

/** A part of a chat message with a file. */
interface FilePart {
  type: 'file';
  file: { filename?: string; file_data?: string; file_url?: string; file_id?: string };
}

/** The documents of a request, as files of chat messages, with names that differ. */
export class AttachedSources {
  readonly #all: AttachedSource[] = [];
  readonly #names = new Set<string>();

  get all(): readonly AttachedSource[] {
    return this.#all;
  }

  addDocument({ source, title, citations }: DocumentBlock): FilePart {
    const named = title ?? undefined;
    const add = (name: string, texts?: readonly string[], hasBlocks = false) =>
      this.#add(
        { kind: 'document', title: title ?? null, isCited: citations?.enabled === true, hasBlocks },
        name,
        texts,
      );
    switch (source.type) {
      case 'text':
        return textFile(add(withExtension(named ?? 'document', '.txt'), [source.data]), source.data);
      case 'content': {
        const texts =
          typeof source.content === 'string' ? [source.content] : source.content.map(({ text }) => text);
        return textFile(add(withExtension(named ?? 'document', '.txt'), texts, true), texts.join('\n\n'));
      }
      case 'base64': {
        const extension = source.media_type === 'application/pdf' ? '.pdf' : '';
        const filename = add(withExtension(named ?? 'document', extension));
        return {
          type: 'file',
          file: { filename, file_data: `data:${source.media_type};base64,${source.data}` },
        };
      }
      case 'url':
        return { type: 'file', file: { filename: add(named ?? nameOf(source.url)), file_url: source.url } };
      default:
        return { type: 'file', file: { filename: add(named ?? source.file_id), file_id: source.file_id } };
    }
  }

  addSearchResult({ source, title, content, citations }: SearchResultBlock): FilePart {
    const texts = content.map(({ text }) => text);
    const described = {
      kind: 'search_result',
      title,
      source,
      isCited: citations?.enabled === true,
      hasBlocks: true,
    } as const;
    return textFile(this.#add(described, withExtension(title, '.txt'), texts), texts.join('\n\n'));
  }

  #add(
    described: Pick<AttachedSource, 'kind' | 'title' | 'isCited' | 'hasBlocks' | 'source'>,
    name: string,
    texts?: readonly string[],
  ): string {
    let filename = name;
    for (let number = 2; this.#names.has(filename); number += 1) filename = `${number} ${name}`;
    this.#names.add(filename);
    const index = this.#all.filter(({ kind }) => kind === described.kind).length;
    this.#all.push({ ...described, index, filename, ...(texts && { texts }) });
    return filename;
  }
}

function textFile(filename: string, text: string): FilePart {
  const data = Buffer.from(text).toString('base64');
  return { type: 'file', file: { filename, file_data: `data:text/plain;base64,${data}` } };
}

function withExtension(name: string, extension: string): string {
  return /\.\w{1,5}$/.test(name) ? name : `${name}${extension}`;
}

function nameOf(url: string): string {
  return url.split(/[?#]/)[0]?.split('/').findLast(Boolean) ?? url;
}
