import { unsupportedFile } from '../parsed-document.js';
import { readDirectory, type ZipEntry } from './archive.js';

const localHeader = { signature: 0x04034b50, size: 30 };
const directoryEntry = { signature: 0x02014b50, size: 46 };
const endRecord = { signature: 0x06054b50, size: 22 };
/** The version that unpacks deflated files, and the flag for names in UTF-8. */
const [neededVersion, namesInUtf8] = [20, 0x0800];

/**
 * An archive for readers that expect the usual names of entries: with `/` between folders, and without a `/` or `./` in
 * front. Returns the given bytes if all names are usual; otherwise a copy with the same packed contents. Throws
 * `unsupported_file` for a damaged archive.
 */
export function withUsualNames(bytes: Uint8Array, filename: string): Uint8Array {
  const entries = readDirectory(bytes, filename);
  if (entries.every(({ name, storedName }) => name === storedName)) return bytes;
  // Entries of a hostile archive may share their contents, so that the copy would be far larger.
  const packed = entries.reduce((sum, { packedBytes }) => sum + packedBytes, 0);
  if (packed > bytes.length) throw unsupportedFile(filename, 'its archive is damaged');
  return writeArchive(bytes, entries);
}

function writeArchive(bytes: Uint8Array, entries: readonly ZipEntry[]): Uint8Array {
  const contents: Uint8Array[] = [];
  const directory: Uint8Array[] = [];
  let offset = 0;
  for (const entry of entries) {
    const name = new TextEncoder().encode(entry.name);
    const content = bytes.subarray(entry.start, entry.start + entry.packedBytes);
    directory.push(directoryRecord(entry, name.length, offset), name);
    contents.push(localRecord(entry, name.length), name, content);
    offset += localHeader.size + name.length + content.length;
  }
  const directoryBytes = directory.reduce((sum, { length }) => sum + length, 0);
  const end = record(endRecord);
  end.setUint16(8, entries.length, true);
  end.setUint16(10, entries.length, true);
  end.setUint32(12, directoryBytes, true);
  end.setUint32(16, offset, true);
  return new Uint8Array(Buffer.concat([...contents, ...directory, bytesOf(end)]));
}

function localRecord(entry: ZipEntry, nameBytes: number): Uint8Array {
  const view = record(localHeader);
  writeFacts(view, 4, entry, nameBytes);
  return bytesOf(view);
}

function directoryRecord(entry: ZipEntry, nameBytes: number, offset: number): Uint8Array {
  const view = record(directoryEntry);
  view.setUint16(4, neededVersion, true);
  writeFacts(view, 6, entry, nameBytes);
  view.setUint32(42, offset, true);
  return bytesOf(view);
}

/** Writes the fields that both records of an entry have in the same order. Times stay at zero. */
function writeFacts(view: DataView, at: number, entry: ZipEntry, nameBytes: number): void {
  view.setUint16(at, neededVersion, true);
  view.setUint16(at + 2, namesInUtf8, true);
  view.setUint16(at + 4, entry.method, true);
  view.setUint32(at + 10, entry.checksum, true);
  view.setUint32(at + 14, entry.packedBytes, true);
  view.setUint32(at + 18, entry.unpackedBytes, true);
  view.setUint16(at + 22, nameBytes, true);
}

function record({ signature, size }: { signature: number; size: number }): DataView {
  const view = new DataView(new ArrayBuffer(size));
  view.setUint32(0, signature, true);
  return view;
}

const bytesOf = ({ buffer }: DataView) => new Uint8Array(buffer);
