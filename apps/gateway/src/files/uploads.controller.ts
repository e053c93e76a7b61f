import { ApiOperation, SchemaPipe } from '#service-kit';
import { Body, Controller, HttpCode, Inject, Param, Post, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Owner } from '../auth/owner.js';
import { secondsOf, toUploadObject, uploadObjectSchema, uploadPartSchema } from './file-objects.js';
import {
  completeUploadSchema,
  createUploadSchema,
  partFormSchema,
  type CompleteUpload,
  type CreateUpload,
} from './file.requests.js';
import { UploadsService } from './uploads.service.js';

@Controller(['v1/uploads', 'uploads'])
export class UploadsController {
  constructor(@Inject(UploadsService) private readonly uploads: UploadsService) {}

  @Post()
  @ApiOperation({ summary: 'Begin a file that is sent in parts', answer: uploadObjectSchema })
  @HttpCode(200)
  async create(@Body(new SchemaPipe(createUploadSchema)) body: CreateUpload, @Owner() owner: string) {
    return toUploadObject(await this.uploads.create(owner, body));
  }

  @Post(':id/parts')
  @ApiOperation({
    summary: 'Send a part',
    answer: uploadPartSchema,
    body: partFormSchema,
    consumes: ['multipart/form-data'],
  })
  @HttpCode(200)
  async addPart(@Param('id') uploadId: string, @Req() http: FastifyRequest, @Owner() owner: string) {
    const { id, createdAt } = await this.uploads.addPart(owner, uploadId, http);
    return { id, object: 'upload.part' as const, created_at: secondsOf(createdAt), upload_id: uploadId };
  }

  @Post(':id/complete')
  @ApiOperation({ summary: 'Make the file of its parts', answer: uploadObjectSchema })
  @HttpCode(200)
  async complete(
    @Param('id') id: string,
    @Body(new SchemaPipe(completeUploadSchema)) body: CompleteUpload,
    @Owner() owner: string,
  ) {
    const { upload, file } = await this.uploads.complete(owner, id, body);
    return toUploadObject(upload, file);
  }

  @Post(':id/cancel')
  @ApiOperation({ summary: 'Give an upload up', answer: uploadObjectSchema })
  @HttpCode(200)
  async cancel(@Param('id') id: string, @Owner() owner: string) {
    return toUploadObject(await this.uploads.cancel(owner, id));
  }
}
