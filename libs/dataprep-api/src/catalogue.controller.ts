import { storedDocumentSchema, type StoredDocument } from '#contracts';
import { ApiOperation, SchemaPipe } from '#service-kit';
import { Body, Controller, Get, HttpCode, Inject, Post } from '@nestjs/common';
import { z } from 'zod';
import { collectionField } from './collection-field.js';
import { Dataprep } from './dataprep.js';

const collection = collectionField;
/** `index_name` is the reference's name for a collection. */
const listSchema = z.object({ collection, index_name: collection });
const deleteSchema = listSchema.extend({ file_path: z.string().min(1) });

/** One entry of the reference's list of files, and beside it what else is known. */
const listedFileSchema = storedDocumentSchema
  .omit({ filename: true, createdAt: true })
  .extend({ name: z.string(), type: z.literal('File'), parent: z.literal(''), created_at: z.string() });
type ListedFile = z.output<typeof listedFileSchema>;
const indices = z.array(z.string());

@Controller()
export class CatalogueController {
  constructor(@Inject(Dataprep) private readonly dataprep: Dataprep) {}

  @Post(['v1/dataprep/get', 'v1/dataprep/get_file'])
  @ApiOperation({ summary: 'List the documents', answer: z.array(listedFileSchema) })
  @HttpCode(200)
  async list(@Body(new SchemaPipe(listSchema)) body: z.infer<typeof listSchema>): Promise<ListedFile[]> {
    return (await this.dataprep.list(body.collection ?? body.index_name)).map(toListedFile);
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

function toListedFile({ filename, createdAt, ...document }: StoredDocument): ListedFile {
  return { name: filename, ...document, type: 'File', parent: '', created_at: createdAt };
}
