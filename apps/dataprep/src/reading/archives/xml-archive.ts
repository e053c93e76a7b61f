import { posix } from 'node:path';
import { load } from 'cheerio';
import { unsupportedFile } from '../unsupported-file.js';
import type { ReadingLimits, SourceFile } from '../parsed-document.js';
import { unpackFiles } from './zip-directory.js';

/** An XML file as cheerio reads it: selectors need the prefix escaped, `a\\:p`. */
export type XmlDocument = ReturnType<typeof load>;

const isMarkup = (name: string) => /\.(xml|rels|opf|x?html?)$/i.test(name);

/** The XML files of an archive: Office formats, OpenDocument and EPUB. */
export class XmlArchive {
  readonly #files: Map<string, Uint8Array>;

  /** Throws `unsupported_file` for an archive that is broken or unpacks to more than the limit. */
  constructor(
    private readonly file: SourceFile,
    { maxUnpackedBytes: maxBytes }: ReadingLimits,
  ) {
    this.#files = unpackFiles(file.bytes, file.filename, { maxBytes, isWanted: isMarkup });
  }

  /** The text of a file. Throws `unsupported_file` where it is missing. */
  text(path: string): string {
    const bytes = this.#files.get(path);
    if (!bytes) throw unsupportedFile(this.file.filename, `its archive has no ${path}`);
    return new TextDecoder().decode(bytes);
  }

  xml(path: string): XmlDocument {
    return load(this.text(path), { xml: true });
  }

  has(path: string): boolean {
    return this.#files.has(path);
  }

  /** Office: the paths that the relations of a part name, by their id. */
  relations(part: string): Map<string, string> {
    const folder = posix.dirname(part);
    const $ = this.xml(posix.join(folder, '_rels', `${posix.basename(part)}.rels`));
    const entries = $('Relationship')
      .toArray()
      .map((element): [string, string] => [
        $(element).attr('Id') ?? '',
        posix.join(folder, $(element).attr('Target') ?? ''),
      ]);
    return new Map(entries);
  }
}
