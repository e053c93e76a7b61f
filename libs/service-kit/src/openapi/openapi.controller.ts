import { MegaNestError } from '#contracts';
import { Controller, Get, Inject, Param, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
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
  async page(@Req() { originalUrl }: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    // The page's links are relative to a path without a slash at its end.
    if (originalUrl.endsWith('/')) await reply.redirect('../docs', 308);
    else await sendPageFile(reply, '');
  }

  @Get('docs/:file')
  @HiddenRoute('a page for people')
  file(@Param('file') file: string, @Res() reply: FastifyReply): Promise<void> {
    return sendPageFile(reply, file);
  }
}

/** Everything comes from here, no other page may frame it; Swagger's styles and icons stand in the markup. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

async function sendPageFile(reply: FastifyReply, name: string): Promise<void> {
  const file = await readPageFile(name);
  if (!file) throw new MegaNestError('not_found', { what: `The file docs/${name}`, param: 'file' });
  const headers = {
    'cache-control': 'max-age=3600',
    'content-security-policy': policy,
    'x-content-type-options': 'nosniff',
  };
  await reply.headers(headers).type(file.mediaType).send(file.content);
}
