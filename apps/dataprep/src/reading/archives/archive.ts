import { isUtf8 } from 'node:buffer';
import { posix } from 'node:path';
import { inflateRawSync } from 'node:zlib';
import { load } from 'cheerio';
import { decoderOf } from '../encodings/encodings.js';
import { guessEncoding } from '../encodings/guess-encoding.js';
import { unsupportedFile, type ReadingLimits, type SourceFile } from '../parsed-document.js';

/** One entry of a zip's central directory. Offsets and sizes in bytes. */
export interface ZipEntry {
  /** Path in the archive: with `/` between folders, and without a `/` or `./` in front. */
  name: string;
  method: number;
  packedBytes: number;
  /** Offset of the packed content. */
  start: number;
  isEncrypted: boolean;
}

/** A file of an archive. Errors of `content`: a reason, worded for the end of a sentence. */
export interface PackedFile {
  path: string;
  content(): Uint8Array;
}

const endRecordSize = 22;
const maxComment = 0xffff;
const maxEntries = 10_000;

/** Whether a file begins as a zip archive does. */
export function startsAsZip([first, second]: Uint8Array): boolean {
  return first === 0x50 && second === 0x4b;
}

/** Names of the files in a zip archive. Throws `unsupported_file` if the directory of the archive is damaged. */
export function zipEntryNames(bytes: Uint8Array, filename: string): string[] {
  return readDirectory(bytes, filename).map((entry) => entry.name);
}

/** Files of an archive to unpack, and the limit in bytes for all of them together. */
interface Unpacking {
  maxBytes: number;
  isWanted: (name: string) => boolean;
}

/**
 * Unpacks the files of an archive for which `isWanted` returns true. Throws `unsupported_file` for an archive that is
 * damaged or unpacks to more bytes than the common limit.
 */
export function unpackFiles(
  bytes: Uint8Array,
  filename: string,
  options: Unpacking,
): Map<string, Uint8Array> {
  return new Map(unpackEach(bytes, filename, options));
}

function* unpackEach(
  bytes: Uint8Array,
  filename: string,
  { maxBytes, isWanted }: Unpacking,
): Generator<[name: string, content: Uint8Array]> {
  let left = maxBytes;
  for (const entry of readDirectory(bytes, filename)) {
    if (!isWanted(entry.name)) continue;
    const content = unpack(bytes, entry, filename, left);
    left -= content?.length ?? left + 1;
    if (!content || left < 0) throw tooLarge(filename, maxBytes);
    yield [entry.name, content];
  }
}

/** Unpacks one entry. Undefined if the content is larger than the rest of the limit. */
export function unpack(
  bytes: Uint8Array,
  entry: ZipEntry,
  filename: string,
  budget: number,
): Uint8Array | undefined {
  if (entry.method !== 0 && entry.method !== 8)
    throw unsupportedFile(filename, 'it uses an unknown compression');
  try {
    const packed = bytes.subarray(entry.start, entry.start + entry.packedBytes);
    return entry.method === 0 ? packed : inflateRawSync(packed, { maxOutputLength: Math.max(1, budget) });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') return undefined;
    throw unsupportedFile(filename, 'its archive is damaged', error);
  }
}

/** The entries of an archive. Throws `unsupported_file` if its directory is damaged. */
export function readDirectory(bytes: Uint8Array, filename: string): ZipEntry[] {
  const view = viewOf(bytes);
  try {
    const end = findEndRecord(view);
    const count = view.getUint16(end + 10, true);
    if (count > maxEntries)
      throw unsupportedFile(filename, `its archive has more than ${maxEntries} entries`);
    return readEntries(bytes, view, view.getUint32(end + 16, true), count);
  } catch (error) {
    if (error instanceof RangeError) throw unsupportedFile(filename, 'its archive is damaged', error);
    throw error;
  }
}

function readEntries(bytes: Uint8Array, view: DataView, start: number, count: number): ZipEntry[] {
  const entries: ZipEntry[] = [];
  let offset = start;
  for (let index = 0; index < count; index += 1) {
    if (view.getUint32(offset, true) !== 0x02014b50) throw new RangeError('no directory entry');
    const nameLength = view.getUint16(offset + 28, true);
    const storedName = nameOf(bytes.subarray(offset + 46, offset + 46 + nameLength));
    const header = view.getUint32(offset + 42, true);
    entries.push({
      name: usualName(storedName),
      isEncrypted: (view.getUint16(offset + 8, true) & 1) === 1,
      method: view.getUint16(offset + 10, true),
      packedBytes: view.getUint32(offset + 20, true),
      start: header + 30 + view.getUint16(header + 26, true) + view.getUint16(header + 28, true),
    });
    offset += 46 + nameLength + view.getUint16(offset + 30, true) + view.getUint16(offset + 32, true);
  }
  return entries;
}

/** A name in UTF-8; older programs write it in the encoding of their language. */
function nameOf(bytes: Uint8Array): string {
  return isUtf8(bytes)
    ? new TextDecoder().decode(bytes)
    : decoderOf(guessEncoding(bytes).encoding).decode(bytes);
}

/** Some Windows programs write `\` between folders. */
function usualName(storedName: string): string {
  return storedName.replaceAll('\\', '/').replace(/^(\.?\/)+/, '');
}

function findEndRecord(view: DataView): number {
  const last = view.byteLength - endRecordSize;
  for (let offset = last; offset >= Math.max(0, last - maxComment); offset -= 1) {
    if (view.getUint32(offset, true) === 0x06054b50) return offset;
  }
  throw new RangeError('no end of directory');
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function tooLarge(filename: string, limit: number) {
  return unsupportedFile(filename, `it unpacks to more than ${Math.floor(limit / (1024 * 1024))} MB`);
}

/** An XML file, parsed by cheerio. Selectors must escape the colon of a prefix: `a\\:p`. */
export type XmlDocument = ReturnType<typeof load>;

const isMarkup = (name: string) => /\.(xml|rels|opf|x?html?)$/i.test(name);

/** The XML files of an archive: Office formats, OpenDocument and EPUB. */
export class XmlArchive {
  readonly #files: Map<string, Uint8Array>;

  /** Throws `unsupported_file` for an archive that is damaged or unpacks to more bytes than the limit. */
  constructor(
    private readonly file: SourceFile,
    { maxUnpackedBytes: maxBytes }: ReadingLimits,
  ) {
    this.#files = unpackFiles(file.bytes, file.filename, { maxBytes, isWanted: isMarkup });
  }

  /** The text of a file. Throws `unsupported_file` if the file is missing. */
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

  /** The relations of an Office part. Throws `unsupported_file` if the part has none. */
  relations(part: string): Relation[] {
    const $ = this.xml(relationsOf(part));
    return $('Relationship')
      .toArray()
      .map((element) => ({
        id: $(element).attr('Id') ?? '',
        type: $(element).attr('Type') ?? '',
        path: resolvePath(part, $(element).attr('Target') ?? ''),
        target: $(element).attr('Target') ?? '',
      }));
  }

  hasRelations(part: string): boolean {
    return this.has(relationsOf(part));
  }
}

function relationsOf(part: string): string {
  return posix.join(posix.dirname(part), '_rels', `${posix.basename(part)}.rels`);
}

/** A relation of an Office part to another part. */
interface Relation {
  id: string;
  /** An address; its last segment names the kind, e.g. `notesSlide`. */
  type: string;
  path: string;
  /** The reference as it is written: an address outside of the archive is not a path. */
  target: string;
}

/** The path of a reference within a file of an archive. A reference that begins with `/` starts at the root. */
export function resolvePath(file: string, reference: string): string {
  return posix.resolve('/', posix.dirname(file), reference.replaceAll('\\', '/')).slice(1);
}
