import { MegaNestError } from '#contracts';
import { FilesRepository, type StoredFile, type StoredUpload } from '#storage';
import { Inject, Injectable } from '@nestjs/common';
import { z } from 'zod';

/** Unix seconds. */
export function secondsOf(date: Date): number {
  return Math.floor(date.getTime() / 1000);
}

/** OpenAI's file object. */
export const fileObjectSchema = z.object({
  id: z.string(),
  object: z.literal('file'),
  bytes: z.int(),
  created_at: z.int(),
  expires_at: z.int().optional(),
  filename: z.string(),
  purpose: z.string(),
  status: z.literal('processed'),
});
export type FileObject = z.infer<typeof fileObjectSchema>;

export const deletedFileSchema = z.object({
  id: z.string(),
  object: z.literal('file'),
  deleted: z.literal(true),
});

export function toFileObject(file: StoredFile): FileObject {
  const { id, bytes, createdAt, expiresAt, filename, purpose } = file;
  return {
    id,
    object: 'file',
    bytes,
    created_at: secondsOf(createdAt),
    ...(expiresAt && { expires_at: secondsOf(expiresAt) }),
    filename,
    purpose,
    status: 'processed',
  };
}

/** OpenAI's upload object. */
export const uploadObjectSchema = z.object({
  id: z.string(),
  object: z.literal('upload'),
  bytes: z.int(),
  created_at: z.int(),
  expires_at: z.int(),
  filename: z.string(),
  purpose: z.string(),
  status: z.enum(['pending', 'completed', 'cancelled', 'expired']),
  /** Once it is completed. */
  file: fileObjectSchema.nullable(),
});
export type UploadObject = z.infer<typeof uploadObjectSchema>;

export const uploadPartSchema = z.object({
  id: z.string(),
  object: z.literal('upload.part'),
  created_at: z.int(),
  upload_id: z.string(),
});

export function toUploadObject(upload: StoredUpload, file?: StoredFile): UploadObject {
  const { id, bytes, createdAt, expiresAt, filename, purpose, status } = upload;
  return {
    id,
    object: 'upload',
    bytes,
    created_at: secondsOf(createdAt),
    expires_at: secondsOf(expiresAt),
    filename,
    purpose,
    status,
    file: file ? toFileObject(file) : null,
  };
}

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
