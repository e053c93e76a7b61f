import { ingestParametersSchema, type StoredDocument } from '#contracts';
import { SchemaPipe } from '#service-kit';
import { Body, Controller, Get, HttpCode, Inject, Post } from '@nestjs/common';
import { z } from 'zod';
import { DocumentCatalogue } from '../ingest/document-catalogue.js';

const { collection } = ingestParametersSchema.shape;
/** `index_name` is the reference's name for a collection. */
const listSchema = z.object({ collection, index_name: collection });
const deleteSchema = listSchema.extend({ file_path: z.string().min(1) });

/** One entry of the reference's list of files, and beside it what else is known. */
interface ListedFile extends Omit<StoredDocument, 'filename' | 'createdAt'> {
  name: string;
  type: 'File';
  parent: '';
  created_at: string;
}

@Controller()
export class CatalogueController {
  constructor(@Inject(DocumentCatalogue) private readonly catalogue: DocumentCatalogue) {}

  @Post(['v1/dataprep/get', 'v1/dataprep/get_file'])
  @HttpCode(200)
  async list(@Body(new SchemaPipe(listSchema)) body: z.infer<typeof listSchema>): Promise<ListedFile[]> {
    return (await this.catalogue.list(body.collection ?? body.index_name)).map(toListedFile);
  }

  @Post(['v1/dataprep/delete', 'v1/dataprep/delete_file'])
  @HttpCode(200)
  async delete(@Body(new SchemaPipe(deleteSchema)) body: z.infer<typeof deleteSchema>) {
    const deleted = await this.catalogue.delete(body.file_path, body.collection ?? body.index_name);
    return { status: true, deleted };
  }

  @Post('v1/dataprep/indices')
  @HttpCode(200)
  indices(): Promise<string[]> {
    return this.catalogue.collections();
  }

  @Get('v1/dataprep/indices')
  readIndices(): Promise<string[]> {
    return this.catalogue.collections();
  }
}

function toListedFile({ filename, createdAt, ...document }: StoredDocument): ListedFile {
  return { name: filename, ...document, type: 'File', parent: '', created_at: createdAt };
}
