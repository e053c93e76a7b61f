import { MegaNestError, type StoredDocument } from '#platform/contracts';
import { Dataprep } from '#api/dataprep-api';
import { renderChunks } from '#answers/evidence';
import { Inject, Injectable } from '@nestjs/common';
import type { Resource, TextResourceContents } from '@modelcontextprotocol/sdk/types.js';
import { DocumentReader } from '../document-tools/document-reader.js';

/** Documents in one page of the list. */
const pageSize = 200;
/** Maximum characters of a resource: a client keeps it in its memory, and mostly in a prompt. */
const maxCharacters = 1_000_000;
const prefix = 'meganest://documents/';

/** The template of the resources: each document, as text. */
export const documentTemplate = {
  uriTemplate: `${prefix}{id}`,
  name: 'document',
  title: 'An ingested document',
  description: 'The text of an ingested document, by its id.',
  mimeType: 'text/markdown',
};

/** The ingested documents as resources. */
@Injectable()
export class DocumentResources {
  constructor(
    @Inject(Dataprep) private readonly dataprep: Dataprep,
    @Inject(DocumentReader) private readonly documents: DocumentReader,
  ) {}

  /** A page of the list, newest first. Errors: invalid_request for a cursor that no page has given. */
  async list(cursor: string | undefined): Promise<{ resources: Resource[]; nextCursor?: string }> {
    const offset = offsetOf(cursor);
    const listed = await this.dataprep.list({ offset, limit: pageSize + 1 });
    const resources = listed.slice(0, pageSize).map(toResource);
    return { resources, ...(listed.length > pageSize && { nextCursor: String(offset + pageSize) }) };
  }

  /** The text of a document. Errors: not_found; payload_too_large for a document that has to be opened in parts. */
  async read(uri: string): Promise<TextResourceContents> {
    if (!uri.startsWith(prefix))
      throw new MegaNestError('not_found', { what: `The resource ${uri}`, param: 'uri' });
    const document = await this.documents.find(decodeURIComponent(uri.slice(prefix.length)));
    const chunks = [];
    let characters = 0;
    for await (const page of this.documents.pages(document.id)) {
      chunks.push(...page);
      characters += page.reduce((sum, { text }) => sum + text.length, 0);
      if (characters <= maxCharacters) continue;
      const limit = `${maxCharacters} characters; the tool open reads it in parts`;
      throw new MegaNestError('payload_too_large', {
        what: `The document ${document.filename}`,
        limit,
        param: 'uri',
      });
    }
    return { uri, mimeType: documentTemplate.mimeType, text: renderChunks(chunks) };
  }

  /** Ids of documents that begin with the text, for completions. */
  async complete(text: string): Promise<string[]> {
    const listed = await this.dataprep.list({ limit: pageSize });
    return listed.map(({ id }) => id).filter((id) => id.startsWith(text));
  }

  /** Names of collections that begin with the text, for completions. */
  async completeCollection(text: string): Promise<string[]> {
    return (await this.dataprep.collections()).filter((name) => name.startsWith(text));
  }
}

function offsetOf(cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  if (/^\d{1,9}$/.test(cursor)) return Number(cursor);
  throw new MegaNestError('invalid_request', { detail: 'cursor: no page has given it', param: 'cursor' });
}

function toResource({ id, filename, collection, createdAt, source }: StoredDocument): Resource {
  return {
    uri: `${prefix}${encodeURIComponent(id)}`,
    name: filename,
    title: filename,
    description: `Collection ${collection}${source === null ? '' : `, from ${source}`}`,
    mimeType: documentTemplate.mimeType,
    annotations: { lastModified: createdAt },
  };
}
