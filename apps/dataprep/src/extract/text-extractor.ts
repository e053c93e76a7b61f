import {
  maxExtractedCharacters,
  MegaNestError,
  type extract,
  type ExtractedText,
  type ParsedRequestOf,
} from '#platform/contracts';
import type { DocumentPreparer } from '../ingest/document-preparer.js';
import type { MediaCall, MediaReader } from '../ingest/media/media-reader.js';
import { Semaphore } from '../ingest/semaphore.js';
import type { SourceReader } from '../ingest/sources.js';
import { isMedia } from '../reading/media/media-type.js';
import type { BlockKind, DocumentBlock } from '../reading/parsed-document.js';

/** Files in memory at a time. */
const maxReading = 2;

/** Extracts the text of single files for callers that do not want a file stored. */
export class TextExtractor {
  readonly #turns = new Semaphore(maxReading);

  constructor(
    private readonly sources: SourceReader,
    private readonly preparer: DocumentPreparer,
    private readonly media: MediaReader,
  ) {}

  /** Errors: unsupported_file, payload_too_large, not_found, cancelled. */
  extract(request: ParsedRequestOf<typeof extract>, call: MediaCall): Promise<ExtractedText> {
    return this.#turns.run(() => this.#extract(request, call), call.signal);
  }

  async #extract(
    { file, max_characters }: ParsedRequestOf<typeof extract>,
    call: MediaCall,
  ): Promise<ExtractedText> {
    const [source] = this.sources.sourcesOf({ files: [file], links: [] });
    if (!source) throw new MegaNestError('not_found', { what: `The file ${file.filename}` });
    const { sha256: _hash, ...sourceFile } = await source.fetch(call.signal);
    const { blocks, title } = isMedia(sourceFile.bytes)
      ? await this.media.read(await this.media.store(sourceFile, source.open?.reference), call)
      : await this.preparer.read(sourceFile, call.signal);
    const whole = textOfBlocks(blocks);
    const text = cutAt(whole, max_characters ?? whole.length);
    refuseTooLong(text, file.filename);
    const pages = new Set(blocks.flatMap(({ page }) => page ?? [])).size;
    return {
      text,
      truncated: text.length < whole.length,
      ...(title !== undefined && { title }),
      ...(pages > 0 && { pages }),
    };
  }
}

/** Cuts a text at a limit of UTF-16 units, but never between the two halves of a surrogate pair. */
function cutAt(text: string, limit: number): string {
  return text.slice(0, limit).replace(/[\uD800-\uDBFF]$/, '');
}

function refuseTooLong(text: string, filename: string): void {
  if (text.length <= maxExtractedCharacters) return;
  throw new MegaNestError('payload_too_large', {
    what: `The text of the file ${filename}`,
    limit: `${maxExtractedCharacters} characters`,
    param: 'file',
  });
}

/** Adjacent blocks of these kinds are separated by a line end; all other blocks are separated by a blank line. */
const gathered: ReadonlySet<BlockKind> = new Set(['list-item', 'table-row']);

/** A document's blocks as plain text in reading order. */
export function textOfBlocks(blocks: readonly DocumentBlock[]): string {
  let text = '';
  const filled = blocks.filter((block) => !block.ends);
  filled.forEach((block, index) => {
    const before = filled[index - 1];
    if (before) text += before.kind === block.kind && gathered.has(block.kind) ? '\n' : '\n\n';
    text += block.kind === 'list-item' ? `- ${block.text}` : block.text;
  });
  return text;
}
