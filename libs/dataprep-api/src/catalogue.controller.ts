import { ingestParametersSchema, type StoredDocument } from '#contracts';
import { SchemaPipe } from '#service-kit';
import { Body, Controller, Get, HttpCode, Inject, Post } from '@nestjs/common';
import { z } from 'zod';
import { Dataprep } from './dataprep.js';

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
  constructor(@Inject(Dataprep) private readonly dataprep: Dataprep) {}

  @Post(['v1/dataprep/get', 'v1/dataprep/get_file'])
  @HttpCode(200)
  async list(@Body(new SchemaPipe(listSchema)) body: z.infer<typeof listSchema>): Promise<ListedFile[]> {
    return (await this.dataprep.list(body.collection ?? body.index_name)).map(toListedFile);
  }

  @Post(['v1/dataprep/delete', 'v1/dataprep/delete_file'])
  @HttpCode(200)
  async delete(@Body(new SchemaPipe(deleteSchema)) body: z.infer<typeof deleteSchema>) {
    const deleted = await this.dataprep.delete(body.file_path, body.collection ?? body.index_name);
    return { status: true, deleted };
  }

  @Post('v1/dataprep/indices')
  @HttpCode(200)
  indices(): Promise<string[]> {
    return this.dataprep.collections();
  }

  @Get('v1/dataprep/indices')
  readIndices(): Promise<string[]> {
    return this.dataprep.collections();
  }
}

function toListedFile({ filename, createdAt, ...document }: StoredDocument): ListedFile {
  return { name: filename, ...document, type: 'File', parent: '', created_at: createdAt };
}
