import { MegaNestError } from '#contracts';
import { FilesRepository, type StoredFile } from '#storage';
import { Inject, Injectable } from '@nestjs/common';

/** A file with its content, read as it is asked for. */
export interface OpenedFile {
  file: StoredFile;
  content: AsyncGenerator<Uint8Array, void, void>;
}

/** Reads stored files for whoever works with them: inputs of responses, vector stores. */
@Injectable()
export class FileContents {
  constructor(@Inject(FilesRepository) private readonly files: FilesRepository) {}

  /** Errors: not_found with `param` where the owner has no such file; also in mid-read where it is deleted. */
  async open(owner: string, id: string, param = 'file_id'): Promise<OpenedFile> {
    const file = await this.files.find(owner, id);
    if (!file) throw new MegaNestError('not_found', { what: `The file ${id}`, param });
    return { file, content: this.files.content(file) };
  }

  /** The whole content. Errors: as {@link open}; payload_too_large, before anything is read. */
  async read(
    owner: string,
    id: string,
    { maxBytes, param = 'file_id' }: { maxBytes: number; param?: string },
  ): Promise<{ file: StoredFile; bytes: Uint8Array }> {
    const { file, content } = await this.open(owner, id, param);
    if (file.bytes > maxBytes) {
      const what = `The file ${file.filename}`;
      throw new MegaNestError('payload_too_large', { what, limit: `${maxBytes} bytes`, param });
    }
    const pieces: Uint8Array[] = [];
    for await (const piece of content) pieces.push(piece);
    return { file, bytes: Buffer.concat(pieces) };
  }
}
