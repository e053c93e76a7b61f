import { MegaNestError } from '#contracts';
import { Controller, Get, Inject, Param, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { ApiDocument } from './api-document.js';
import type { OpenApiDocument } from './build-document.js';
import { readPageFile } from './docs-page.js';
import { HiddenRoute } from './api-operation.decorator.js';

/** The service's own description: as a document for tools, as a page for people. */
@Controller()
export class OpenApiController {
  constructor(@Inject(ApiDocument) private readonly document: ApiDocument) {}

  @Get('openapi.json')
  @HiddenRoute('the document itself')
  openApi(): OpenApiDocument {
    return this.document.read();
  }

  @Get('docs')
  @HiddenRoute('a page for people')
  page(@Res() reply: FastifyReply): Promise<void> {
    return sendPageFile(reply, '');
  }

  @Get('docs/:file')
  @HiddenRoute('a page for people')
  file(@Param('file') file: string, @Res() reply: FastifyReply): Promise<void> {
    return sendPageFile(reply, file);
  }
}

async function sendPageFile(reply: FastifyReply, name: string): Promise<void> {
  const file = await readPageFile(name);
  if (!file) throw new MegaNestError('not_found', { what: `The file docs/${name}`, param: 'file' });
  await reply.header('cache-control', 'max-age=3600').type(file.mediaType).send(file.content);
}
