import { invalidField, withoutInvisible, type FileReference } from '#platform/contracts';
import type { ObjectDescription, ObjectStore } from '#platform/messaging';
import { contentOf, readFormParts } from '#platform/service-kit';
import type { MultipartFile } from '@fastify/multipart';
import type { FastifyRequest } from 'fastify';
import { basename } from 'node:path';
import { tooLarge, type UploadLimits } from './upload-limits.js';

/** A received form: its files are in the object store, its fields are text. */
export interface ReceivedForm {
  files: FileReference[];
  fields: Record<string, string>;
}

const fileFields = new Set(['files', 'files[]', 'file']);
const maxFieldBytes = 1024 * 1024;
/** Files up to this size are stored together in one object, because each object takes several round trips to NATS. */
const smallFileBytes = 64 * 1024;
/** Size at which an object of small files is stored. */
const packBytes = 512 * 1024;
/** Limit for objects of small files that are stored concurrently. */
const packsAtOnce = 2;

/**
 * Reads a multipart form and streams its files to the object store. Only small files are in memory as a whole. After an
 * error the stored files are removed. Errors: payload_too_large and invalid_request, with the field as `param`.
 */
export async function receiveForm(
  request: FastifyRequest,
  objects: Pick<ObjectStore, 'put' | 'delete'>,
  limits: UploadLimits,
): Promise<ReceivedForm> {
  const form: ReceivedForm = { files: [], fields: {} };
  const intake = new Intake(objects, new UploadCounter(limits));
  try {
    // One more than allowed, so that this function and not the parser reports the error.
    const parserLimits = {
      files: limits.maxFiles + 1,
      fieldSize: maxFieldBytes,
      fields: 100,
      keepsPaths: true,
    };
    await readFormParts(request, parserLimits, async (part) => {
      if (part.type === 'file') await intake.take(part);
      else addField(form.fields, part.fieldname, part.value, part.valueTruncated);
    });
    form.files.push(...(await intake.files()));
    return form;
  } catch (error) {
    await intake.discard();
    throw error;
  }
}

type SmallFile = { index: number; bytes: Uint8Array; filename: string; mimeType: string };

/** Stores the files of a form in order: a large file while it arrives, small files together. */
class Intake {
  #count = 0;
  readonly #files: Promise<FileReference>[] = [];
  readonly #objects: Promise<FileReference>[] = [];
  readonly #underWay = new Set<Promise<unknown>>();
  #pack: SmallFile[] = [];

  constructor(
    private readonly objects: Pick<ObjectStore, 'put' | 'delete'>,
    private readonly counter: UploadCounter,
  ) {}

  /** Reads a file. Resolves when there is room for another file. */
  async take(part: MultipartFile): Promise<void> {
    const index = this.#count;
    const param = `files[${index}]`;
    if (!fileFields.has(part.fieldname)) {
      throw invalidField(part.fieldname, 'files are sent in the field "files"');
    }
    const filename = cleanPath(part.filename);
    if (!filename) throw invalidField(param, 'the file has no name');
    this.counter.addFile(param);
    this.#count += 1;
    const description = { filename, mimeType: part.mimetype };
    const pieces = this.counter.count(contentOf(part), filename, param);
    const { bytes, isWhole } = await readBeginning(pieces);
    if (isWhole) return this.#takeSmall({ index, bytes, ...description });
    this.#files[index] = this.#put(following(bytes, pieces), description);
    await this.#files[index];
  }

  /** Returns the files in the order of the form. Errors: the errors of the object store. */
  files(): Promise<FileReference[]> {
    this.#storePack();
    return Promise.all(this.#files);
  }

  /** Removes the stored files. */
  async discard(): Promise<void> {
    const outcomes = await Promise.allSettled(this.#objects);
    const stored = outcomes.filter((outcome) => outcome.status === 'fulfilled');
    await Promise.allSettled(stored.map(({ value }) => this.objects.delete(value.objectId)));
  }

  async #takeSmall(file: SmallFile): Promise<void> {
    this.#pack.push(file);
    if (sizeOf(this.#pack) < packBytes) return;
    this.#storePack();
    if (this.#underWay.size >= packsAtOnce) await Promise.race(this.#underWay);
  }

  /** Stores the small files that wait. A single file becomes an ordinary object. */
  #storePack(): void {
    const pack = this.#pack;
    this.#pack = [];
    const [first] = pack;
    if (!first) return;
    const { filename, mimeType } = first;
    const storing = this.#put(Buffer.concat(pack.map(({ bytes }) => bytes)), { filename, mimeType });
    let offset = 0;
    for (const file of pack) {
      const begins = offset;
      offset += file.bytes.length;
      this.#files[file.index] =
        pack.length === 1 ? storing : storing.then(({ objectId }) => placeIn(objectId, file, begins));
      // The caller gets the error from files().
      this.#files[file.index]?.catch(() => undefined);
    }
  }

  #put(
    content: Uint8Array | AsyncIterable<Uint8Array>,
    description: ObjectDescription,
  ): Promise<FileReference> {
    const storing = this.objects.put(content, description);
    this.#objects.push(storing);
    const over = storing.catch(() => undefined).finally(() => this.#underWay.delete(over));
    this.#underWay.add(over);
    return storing;
  }
}

const sizeOf = (pack: readonly SmallFile[]) => pack.reduce((sum, { bytes }) => sum + bytes.length, 0);

function placeIn(objectId: string, { bytes, filename, mimeType }: SmallFile, offset: number): FileReference {
  return { objectId, filename, mimeType, bytes: bytes.length, offset };
}

/** Reads a small file whole, or the beginning of a large one. */
async function readBeginning(
  pieces: AsyncGenerator<Uint8Array>,
): Promise<{ bytes: Uint8Array; isWhole: boolean }> {
  const read: Uint8Array[] = [];
  let size = 0;
  while (size <= smallFileBytes) {
    const piece = await pieces.next();
    if (piece.done) return { bytes: Buffer.concat(read), isWhole: true };
    read.push(piece.value);
    size += piece.value.length;
  }
  return { bytes: Buffer.concat(read), isWhole: false };
}

async function* following(first: Uint8Array, rest: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield first;
  yield* rest;
}

function addField(fields: Record<string, string>, name: string, value: unknown, truncated: boolean): void {
  if (truncated) throw invalidField(name, `is longer than ${maxFieldBytes} bytes`);
  if (name in fields) throw invalidField(name, 'is there twice');
  fields[name] = typeof value === 'string' ? value : JSON.stringify(value);
}

/** Returns the last part of a path, without control characters. Some browsers send whole paths. */
export function cleanFilename(filename: string): string {
  return basename(filename.replaceAll('\\', '/').replaceAll(/\p{Cc}/gu, ''))
    .trim()
    .slice(-255);
}

/**
 * Returns a path within the sender's folder, which distinguishes files with the same name. Parts that lead out of the
 * folder and invisible characters are left out. An absolute path, which some browsers send, is reduced to its last part.
 */
export function cleanPath(filename: string): string {
  const path = withoutInvisible(filename)
    .replaceAll('\\', '/')
    .replaceAll(/\p{Cc}/gu, '');
  if (/^(\/|[a-z]:)/i.test(path)) return cleanFilename(path);
  const parts = path
    .split('/')
    .map((part) => part.trim())
    .filter((part) => part !== '' && part !== '.' && part !== '..');
  return parts.join('/').slice(-255);
}

/** Checks the limits while files are streamed. */
class UploadCounter {
  #files = 0;
  #bytes = 0;

  constructor(private readonly limits: UploadLimits) {}

  addFile(param: string): void {
    this.#files += 1;
    const { maxFiles } = this.limits;
    if (this.#files > maxFiles) throw tooLarge('The number of files', `${maxFiles}`, param);
  }

  async *count(
    pieces: AsyncIterable<Uint8Array>,
    filename: string,
    param: string,
  ): AsyncGenerator<Uint8Array> {
    const { maxFileBytes, maxBytes } = this.limits;
    let size = 0;
    for await (const piece of pieces) {
      size += piece.length;
      this.#bytes += piece.length;
      if (size > maxFileBytes) throw tooLarge(`The file ${filename}`, `${maxFileBytes} bytes`, param);
      if (this.#bytes > maxBytes) throw tooLarge('The upload', `${maxBytes} bytes`, param);
      yield piece;
    }
  }
}
