import { createHash } from 'node:crypto';
import {
  extract,
  invalidField,
  maxExtractedCharacters,
  MegaNestError,
  textOfAttached,
  AttachedFileMark,
  type ImageBudget,
} from '#platform/contracts';
import { ObjectStore, RpcClient } from '#platform/messaging';
import { inputFileOf, textOfTextFile } from '#api/responses';
import { guardedFetch, type HttpCall } from '#platform/service-kit';
import { Inject, Injectable, Module } from '@nestjs/common';
import { AttachedFiles } from './attached-files.js';
import { gatewayEnvironment, type GatewayEnvironment } from '../config/gateway.environment.js';
import { FileContents, FilesModule } from '../files/files.module.js';

interface LoadedFile {
  filename: string;
  mimeType: string;
  /** Id of a stored file. */
  id?: string;
  /** The address that the file came from. */
  url?: string;
  bytes: Uint8Array;
}

/** The text of a file after a line with its name, and its source: a part of a message in place of the file. */
export interface ReadFile {
  text: string;
  attached: AttachedFileMark;
}

/** Characters of extracted text in the cache, for the next turns of the same conversations. */
const cachedCharacters = 8 * 1024 * 1024;

/** Reads the text of a request's files: files in the request, files at a URL, and stored files. */
@Injectable()
export class InputFiles {
  readonly #texts = new TextCache(cachedCharacters);

  constructor(
    @Inject(FileContents) private readonly stored: FileContents,
    @Inject(ObjectStore) private readonly objects: ObjectStore,
    @Inject(RpcClient) private readonly client: RpcClient,
    @Inject(gatewayEnvironment) private readonly environment: GatewayEnvironment,
  ) {}

  /**
   * The file of an `input_file` part as text. Errors: invalid_request, not_found, forbidden_url, unreachable_url,
   * unsupported_file, payload_too_large, each with the path of the field.
   */
  async read(part: Record<string, unknown>, path: string, owner: string, call: HttpCall): Promise<ReadFile> {
    const file = await this.#load(part, path, owner, call);
    const { filename, id, url } = file;
    const source = { filename, ...(id !== undefined && { id }), ...(url !== undefined && { url }) };
    const text = textOfAttached(source, await this.#textOf(file, path, call));
    return { text, attached: new AttachedFileMark(source) };
  }

  /**
   * A stored image as a data URL, within the limits of all images of the request. Errors: not_found, unsupported_file,
   * invalid_request, payload_too_large with the path.
   */
  async dataUrl(id: string, param: string, owner: string, budget: ImageBudget): Promise<string> {
    const { UPLOAD_FILE_LIMIT_BYTES: maxBytes } = this.environment;
    const bytes = await budget.load({ param, maxBytes }, async (most) => {
      const read = await this.stored.read(owner, id, { maxBytes: most, param });
      return read.bytes;
    });
    const mimeType = imageTypeOf(bytes, param);
    return `data:${mimeType};base64,${Buffer.from(bytes).toString('base64')}`;
  }

  async #load(
    part: Record<string, unknown>,
    path: string,
    owner: string,
    call: HttpCall,
  ): Promise<LoadedFile> {
    const given = inputFileOf(part, path);
    const { UPLOAD_FILE_LIMIT_BYTES: maxBytes, LINK_TIMEOUT_MS: timeoutMs } = this.environment;
    if ('url' in given) {
      const options = { maxBytes, timeoutMs, allowPrivate: this.environment.ALLOW_PRIVATE_LINKS };
      const param = `${path}.file_url`;
      const page = await guardedFetch(given.url, { ...options, param, signal: call.signal });
      const filename = given.filename ?? nameInUrl(page.url);
      return { filename, mimeType: page.mimeType, url: page.url, bytes: page.bytes };
    }
    if ('id' in given) {
      const param = `${path}.file_id`;
      const { file, bytes } = await this.stored.read(owner, given.id, { maxBytes, param });
      const filename = given.filename ?? file.filename;
      return { filename, mimeType: file.mimeType, id: given.id, bytes };
    }
    const { bytes } = given;
    if (bytes.length > maxBytes) {
      const what = `The file ${given.filename}`;
      const param = `${path}.file_data`;
      throw new MegaNestError('payload_too_large', { what, limit: `${maxBytes} bytes`, param });
    }
    return given;
  }

  async #textOf(file: LoadedFile, path: string, call: HttpCall): Promise<string> {
    const plain = textOfTextFile(file);
    if (plain !== undefined) return plain;
    const hash = createHash('sha256').update(`${file.filename}\n${file.mimeType}\n`).update(file.bytes);
    const key = hash.digest('hex');
    const known = this.#texts.get(key);
    if (known !== undefined) return known;
    const text = await this.#extract(file, path, call);
    this.#texts.set(key, text);
    return text;
  }

  async #extract({ bytes, filename, mimeType }: LoadedFile, path: string, call: HttpCall): Promise<string> {
    const reference = await this.objects.put(bytes, { filename, mimeType });
    try {
      const { text, truncated } = await this.client.request(
        extract,
        { file: reference, max_characters: maxExtractedCharacters },
        call,
      );
      if (!truncated) return text;
      const what = `The text of the file ${filename}`;
      const limit = `${maxExtractedCharacters} characters`;
      throw new MegaNestError('payload_too_large', { what, limit });
    } catch (error) {
      throw withParam(error, path);
    } finally {
      await this.objects.delete(reference.objectId).catch(() => undefined);
    }
  }
}

/** Adds the path of the part to an error, because the caller does not know the file reference of the service. */
function withParam(error: unknown, param: string): unknown {
  if (!(error instanceof MegaNestError) || error.status >= 500) return error;
  return MegaNestError.fromBody({ ...error.toBody(), param });
}

function nameInUrl(url: string): string {
  const last = new URL(url).pathname.split('/').at(-1) ?? '';
  try {
    return decodeURIComponent(last) || 'file';
  } catch {
    return last;
  }
}

/** A cache of texts with a maximum number of characters. It drops the least recently used texts first. */
export class TextCache {
  readonly #texts = new Map<string, string>();
  #size = 0;

  constructor(private readonly maxSize: number) {}

  get(key: string): string | undefined {
    const text = this.#texts.get(key);
    if (text !== undefined) {
      this.#texts.delete(key);
      this.#texts.set(key, text);
    }
    return text;
  }

  set(key: string, text: string): void {
    this.#delete(key);
    this.#texts.set(key, text);
    this.#size += text.length;
    for (const oldest of this.#texts.keys()) {
      if (this.#size <= this.maxSize) return;
      this.#delete(oldest);
    }
  }

  #delete(key: string): void {
    this.#size -= this.#texts.get(key)?.length ?? 0;
    this.#texts.delete(key);
  }
}

/** The first bytes of the image formats that models accept. */
const signatures: readonly (readonly [mimeType: string, matches: (bytes: Buffer) => boolean])[] = [
  ['image/png', (bytes) => bytes.subarray(0, 8).equals(Buffer.from('89504e470d0a1a0a', 'hex'))],
  ['image/jpeg', (bytes) => bytes.subarray(0, 3).equals(Buffer.from('ffd8ff', 'hex'))],
  ['image/gif', (bytes) => /^GIF8[79]a/.test(bytes.toString('latin1', 0, 6))],
  ['image/webp', (bytes) => /^RIFF.{4}WEBP/s.test(bytes.toString('latin1', 0, 12))],
];

/** The MIME type of an image by its first bytes. Errors: unsupported_file with the path. */
export function imageTypeOf(bytes: Uint8Array, param: string): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const known = signatures.find(([, matches]) => matches(buffer));
  if (known) return known[0];
  const detail = 'it is not a PNG, JPEG, GIF or WebP image';
  throw new MegaNestError('unsupported_file', { file: `at ${param}`, detail, param });
}

/** The approximate number of bytes in a data URL, without decoding it; 0 for other URLs. */
export function sizeOfDataUrl(url: string): number {
  return url.startsWith('data:') ? Math.ceil(((url.length - url.indexOf(',') - 1) * 3) / 4) : 0;
}

/** The bytes of a data URL. Errors: invalid_request with the path. */
export function imageOfDataUrl(url: string, param: string): Uint8Array {
  const comma = url.indexOf(',');
  const head = url.slice(0, Math.max(comma, 0));
  // Node skips characters that are not base64, so the length shows whether it skipped any.
  const data = url.slice(comma + 1).replaceAll(/\s/g, '');
  const bytes = Buffer.from(data, 'base64');
  const isWhole = bytes.length >= Math.floor((data.replaceAll('=', '').length * 3) / 4);
  if (head.endsWith(';base64') && isWhole && bytes.length > 0) return bytes;
  throw invalidField(param, 'must be a base64 data URL, or the URL of an image');
}

/** Files of requests as text for the model. */
@Module({
  imports: [FilesModule],
  providers: [InputFiles, AttachedFiles],
  exports: [InputFiles, AttachedFiles],
})
export class InputFilesModule {}
