import { Readable } from 'node:stream';
import {
  documentChunksSchema,
  type OriginalFile,
  maxPosition,
  nameSchema,
  reembeddingStateSchema,
  type ReembeddingState,
  storedDocumentSchema,
  type StoredDocument,
} from '#platform/contracts';
import { ApiOperation, SchemaPipe } from '#platform/service-kit';
import { Body, Controller, Get, HttpCode, Inject, Param, Post, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { collectionField } from './ingest-request.js';
import { Dataprep } from './dataprep.js';

const collection = collectionField;
/** `index_name`: the name of a collection in the reference implementation. */
const collectionSchema = z.object({ collection, index_name: collection });
const listSchema = collectionSchema.extend({
  search: z.string().min(1).max(255).optional().describe('Part of a file name'),
  offset: z.int().min(0).max(maxPosition).optional().describe('Documents to skip'),
  limit: z.int().min(1).max(1_000).optional().describe('Limit for the number of documents'),
});
const deleteSchema = collectionSchema.extend({ file_path: nameSchema(4_096) });

/** One entry of the reference's list of files, with further fields of the stored document. */
const listedFileSchema = storedDocumentSchema
  .omit({ filename: true, createdAt: true })
  .extend({ name: z.string(), type: z.literal('File'), parent: z.literal(''), created_at: z.string() });
type ListedFile = z.output<typeof listedFileSchema>;
/** Query strings are text, so that numbers are converted. */
const chunksQuerySchema = z.object({
  from: z.coerce.number().int().min(0).max(maxPosition).default(0).describe('Position of the first chunk'),
  limit: z.coerce.number().int().min(1).max(100).default(50),
});
const chunksAnswer = documentChunksSchema.extend({ document: listedFileSchema });
const indices = z.array(z.string());

@Controller()
export class CatalogController {
  constructor(@Inject(Dataprep) private readonly dataprep: Dataprep) {}

  @Post(['v1/dataprep/get', 'v1/dataprep/get_file'])
  @ApiOperation({ summary: 'List the documents', answer: z.array(listedFileSchema) })
  @HttpCode(200)
  async list(@Body(new SchemaPipe(listSchema)) body: z.infer<typeof listSchema>): Promise<ListedFile[]> {
    const { index_name, search, offset, limit } = body;
    const collection = body.collection ?? (namesAll(index_name) ? undefined : index_name);
    return (await this.dataprep.list({ collection, search, offset, limit })).map(toListedFile);
  }

  @Get('v1/dataprep/documents/:id')
  @ApiOperation({ summary: 'Get a document: what was read of it, and warnings', answer: listedFileSchema })
  async document(@Param('id') id: string): Promise<ListedFile> {
    return toListedFile((await this.dataprep.readChunks(id, 0, 1)).document);
  }

  @Get('v1/dataprep/documents/:id/chunks')
  @ApiOperation({
    summary: 'List the chunks of a document, in order',
    query: chunksQuerySchema,
    answer: chunksAnswer,
  })
  async chunks(
    @Param('id') id: string,
    @Query(new SchemaPipe(chunksQuerySchema)) { from, limit }: z.output<typeof chunksQuerySchema>,
  ): Promise<z.output<typeof chunksAnswer>> {
    const { document, ...rest } = await this.dataprep.readChunks(id, from, limit);
    return { document: toListedFile(document), ...rest };
  }

  /** Always sent as a download: a browser would run an uploaded page with the gateway's origin. */
  @Get('v1/dataprep/documents/:id/original')
  @ApiOperation({
    summary: 'Download the file that a document was read from',
    answer: 'application/octet-stream',
  })
  async original(@Param('id') id: string, @Res() reply: FastifyReply): Promise<void> {
    const first = await this.dataprep.readOriginal(id, 0);
    await reply
      .status(200)
      .header('content-type', 'application/octet-stream')
      .header('content-length', first.bytes)
      .header('content-disposition', `attachment; filename*=UTF-8''${nameForHeader(first.filename)}`)
      .header('content-security-policy', "sandbox; default-src 'none'")
      .header('x-content-type-options', 'nosniff')
      .send(Readable.from(this.#pieces(id, first), { objectMode: false }));
  }

  /** The pieces of a file. Errors: not_found if the document was deleted in the meantime. */
  async *#pieces(id: string, first: OriginalFile): AsyncGenerator<Buffer, void, void> {
    let piece = Buffer.from(first.content, 'base64');
    for (let at = 0; ;) {
      yield piece;
      at += piece.length;
      if (at >= first.bytes) return;
      piece = Buffer.from((await this.dataprep.readOriginal(id, at)).content, 'base64');
    }
  }

  @Post(['v1/dataprep/delete', 'v1/dataprep/delete_file'])
  @ApiOperation({
    summary: 'Delete a document by name or id, or all of them',
    answer: z.object({ status: z.boolean(), deleted: z.int() }),
  })
  @HttpCode(200)
  async delete(@Body(new SchemaPipe(deleteSchema)) body: z.infer<typeof deleteSchema>) {
    const deleted = await this.dataprep.delete(body.file_path, body.collection ?? body.index_name);
    return { status: true, deleted };
  }

  @Post('v1/dataprep/reembed')
  @ApiOperation({
    summary: 'Embed the documents of other embedding models again, in the background',
    answer: reembeddingStateSchema,
  })
  @HttpCode(202)
  startReembedding(): Promise<ReembeddingState> {
    return this.dataprep.reembedding.start();
  }

  @Get('v1/dataprep/reembed')
  @ApiOperation({ summary: 'How far embedding documents again is', answer: reembeddingStateSchema })
  reembedding(): Promise<ReembeddingState> {
    return this.dataprep.reembedding.state();
  }

  @Post('v1/dataprep/indices')
  @ApiOperation({ summary: 'List the collections', answer: indices })
  @HttpCode(200)
  indices(): Promise<string[]> {
    return this.dataprep.collections();
  }

  @Get('v1/dataprep/indices')
  @ApiOperation({ summary: 'List the collections', answer: indices })
  readIndices(): Promise<string[]> {
    return this.dataprep.collections();
  }
}

/** A file name as RFC 5987 writes it. The name of a link is the last part of its path. */
function nameForHeader(filename: string): string {
  const path = URL.canParse(filename) ? new URL(filename).pathname : filename;
  const name = path.split('/').findLast((part) => part !== '') ?? 'file';
  return encodeURIComponent(name.toWellFormed()).replaceAll(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16)}`,
  );
}

/** Whether the reference's `index_name` means all collections. `collection` always names one. */
function namesAll(indexName: string | undefined): boolean {
  return indexName?.toLowerCase() === 'all';
}

function toListedFile({ filename, createdAt, ...document }: StoredDocument): ListedFile {
  return { name: filename, ...document, type: 'File', parent: '', created_at: createdAt };
}
