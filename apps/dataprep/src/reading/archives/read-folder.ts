import { posix } from 'node:path';
import { gunzipSync } from 'node:zlib';
import {
  unsupportedFile,
  type DocumentBlock,
  type ParsedDocument,
  type PartReader,
  type ReadingFacts,
  type ReadingLimits,
  type ReadingWarning,
  type SourceFile,
} from '../parsed-document.js';
import { readDirectory, startsAsZip, unpack, type PackedFile } from './archive.js';
import { isTar, tarFiles } from './read-tar.js';

/** Limit for the files of an archive that are read. */
const maxFiles = 1_000;
/** Limit for the files that are named one by one as not read. */
const maxNamed = 100;
/** Files that programs leave in folders, without text for people. */
const rubbish = /(?:^|\/)(?:__MACOSX\/|\._[^/]*$|\.DS_Store$|Thumbs\.db$|desktop\.ini$|\.git\/)/i;
const megabyte = 1024 * 1024;

/**
 * Reads the files of a zip, tar or gzip archive, each with the reader of its own type, as sections under their names
 * (`archive.zip/folder/a.docx`). A file that cannot be read becomes a warning. Nothing is written to the disk, and paths
 * cannot leave the archive. Errors: unsupported_file for a damaged archive, or one of which no file can be read.
 */
export async function readFolder(
  file: SourceFile,
  limits: ReadingLimits,
  readPart: PartReader,
): Promise<ParsedDocument> {
  const { filename, keepRevisions } = file;
  const blocks: DocumentBlock[] = [];
  const skipped: ReadingWarning[] = [];
  const warnings: ReadingWarning[] = [];
  const totals: ReadingFacts = {};
  let files = 0;
  let seen = 0;
  let characters = 0;
  for (const packed of filesOf(file, limits)) {
    const path = pathWithin(packed.path);
    if (path === '' || rubbish.test(path)) continue;
    const name = `${filename}/${path}`;
    try {
      if ((seen += 1) > maxFiles) throw new Error(`the archive has more than ${maxFiles} files`);
      if (characters > limits.maxCharacters)
        throw new Error(`the files before it have more than ${limits.maxCharacters} characters`);
      const part = await readPart({
        bytes: packed.content(),
        filename: name,
        mimeType: '',
        ...(keepRevisions && { keepRevisions }),
      });
      const isFolder = part.facts?.files !== undefined;
      if (!isFolder) blocks.push({ kind: 'heading', level: 1, text: name });
      for (const block of part.blocks) {
        characters += block.text.length;
        blocks.push(isFolder ? block : below(block));
      }
      for (const warning of part.warnings ?? [])
        warnings.push({ ...warning, message: isFolder ? warning.message : `${name}: ${warning.message}` });
      addUp(totals, part.facts);
      files += part.facts?.files ?? 1;
    } catch (error) {
      skipped.push({ code: 'entry_skipped', message: `${name} was not read: ${reasonOf(error, name)}` });
    }
  }
  if (blocks.length === 0)
    throw unsupportedFile(
      filename,
      skipped[0] ? `of its files none was read. ${skipped[0].message}` : 'it has no files',
    );
  return {
    blocks,
    facts: { ...totals, files },
    warnings: [...shortened(skipped), ...warnings.slice(0, maxNamed)],
  };
}

/** The files of an archive, one at a time in memory. */
function filesOf(file: SourceFile, limits: ReadingLimits): Iterable<PackedFile> {
  const { bytes, filename } = file;
  if (startsAsZip(bytes)) return zipFiles(file, limits);
  if (bytes[0] !== 0x1f) return tarFiles(bytes, filename);
  const content = gunzip(file, limits.maxUnpackedBytes);
  if (isTar(content)) return tarFiles(content, filename);
  const path = posix.basename(filename).replace(/\.gz(?:ip)?$/i, '') || 'content';
  return [{ path, content: () => content }];
}

function gunzip({ bytes, filename }: SourceFile, maxBytes: number): Uint8Array {
  try {
    return gunzipSync(bytes, { maxOutputLength: maxBytes });
  } catch (error) {
    const isTooLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
    const reason = isTooLarge
      ? `it unpacks to more than ${Math.floor(maxBytes / megabyte)} MB`
      : 'its archive is damaged';
    throw unsupportedFile(filename, reason, error);
  }
}

function* zipFiles(
  { bytes, filename }: SourceFile,
  { maxUnpackedBytes }: ReadingLimits,
): Generator<PackedFile, void, void> {
  let left = maxUnpackedBytes;
  for (const entry of readDirectory(bytes, filename)) {
    if (entry.name.endsWith('/')) continue;
    yield {
      path: entry.name,
      content: () => {
        if (entry.isEncrypted) throw new Error('it is protected by a password');
        const content = unpack(bytes, entry, filename, left);
        if (!content || content.length > left)
          throw new Error(`the archive unpacks to more than ${Math.floor(maxUnpackedBytes / megabyte)} MB`);
        left -= content.length;
        return content;
      },
    };
  }
}

/** A path that stays within the archive. */
function pathWithin(path: string): string {
  return posix.resolve('/', path.replaceAll('\\', '/').replaceAll(/\p{Cc}/gu, '')).slice(1);
}

/** A block below the heading of its file. Its page is one of that file, and not of the archive. */
function below({ page: _page, pageLabel: _label, ...block }: DocumentBlock): DocumentBlock {
  return block.kind === 'heading' ? { ...block, level: (block.level ?? 1) + 1 } : block;
}

type CountName = Exclude<
  keyof ReadingFacts,
  'encoding' | 'encodingConfidence' | 'files' | 'seconds' | 'language' | 'transcribedBy'
>;

function addUp(
  totals: ReadingFacts,
  { encoding: _encoding, encodingConfidence: _confidence, files: _files, ...counts }: ReadingFacts = {},
): void {
  for (const [name, count] of Object.entries(counts) as [CountName, number][])
    totals[name] = (totals[name] ?? 0) + count;
}

/** The reason without the sentence that names the file again. */
function reasonOf(error: unknown, name: string): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.split(`${name} cannot be read: `).at(-1)!;
}

function shortened(skipped: readonly ReadingWarning[]): ReadingWarning[] {
  const others = skipped.length - maxNamed;
  if (others <= 0) return [...skipped];
  return [
    ...skipped.slice(0, maxNamed),
    { code: 'entry_skipped', message: `Further files that were not read: ${others}.` },
  ];
}
