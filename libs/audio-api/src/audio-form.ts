import { basename } from 'node:path';
import { MegaNestError, invalidField } from '#contracts';
import { readFormParts } from '#service-kit';
import type { MultipartFile } from '@fastify/multipart';
import type { FastifyRequest } from 'fastify';
import type { AudioFile } from './transcription.js';

/** The fields of a form; fields named `name[]` are lists. */
export interface AudioForm {
  audio?: AudioFile;
  fields: Record<string, string | string[]>;
}

const fileFields = new Set(['file', 'files', 'audio']);
const maxFieldBytes = 256 * 1024;

/**
 * Reads a multipart form with one audio file. Errors: invalid_request and payload_too_large, with the field as `param`.
 */
export async function readAudioForm(request: FastifyRequest, maxBytes: number): Promise<AudioForm> {
  if (!request.isMultipart())
    throw new MegaNestError('invalid_request', {
      detail: 'Send a multipart form with the audio in the field "file".',
      param: 'file',
    });
  const form: AudioForm = { fields: {} };
  const limits = { files: 2, fieldSize: maxFieldBytes, fields: 50 };
  await readFormParts(request, limits, (part) => {
    if (part.type === 'file') return addFile(form, part, maxBytes);
    return addField(form.fields, part.fieldname, part.value, part.valueTruncated);
  });
  return form;
}

async function addFile(form: AudioForm, part: MultipartFile, maxBytes: number): Promise<void> {
  if (!fileFields.has(part.fieldname) || form.audio)
    throw invalidField(part.fieldname, 'send one file, in the field "file"');
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of part.file as AsyncIterable<Uint8Array>) {
    size += piece.length;
    if (size > maxBytes)
      throw new MegaNestError('payload_too_large', {
        what: 'The audio file',
        limit: `${maxBytes} bytes`,
        param: 'file',
      });
    pieces.push(piece);
  }
  const filename = basename(part.filename.replaceAll('\\', '/')).slice(-255) || 'audio';
  form.audio = { bytes: Buffer.concat(pieces), filename, mimeType: part.mimetype };
}

function addField(fields: AudioForm['fields'], name: string, given: unknown, truncated: boolean): void {
  if (truncated) throw invalidField(name, `is longer than ${maxFieldBytes} bytes`);
  const value = typeof given === 'string' ? given : JSON.stringify(given);
  const list = name.endsWith('[]');
  const key = list ? name.slice(0, -2) : name;
  const before = fields[key];
  if (list) fields[key] = [...(Array.isArray(before) ? before : []), value];
  else if (before === undefined) fields[key] = value;
  else fields[key] = [...[before].flat(), value];
}
