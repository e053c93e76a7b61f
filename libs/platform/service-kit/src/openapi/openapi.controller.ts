import { MegaNestError } from '#platform/contracts';
import { Controller, Get, Inject, Param, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { ApiDocument, type OpenApiDocument } from './build-document.js';
import { HiddenRoute } from './routes.js';

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

/**
 * All content comes from this server, and other pages cannot frame it. Swagger's markup contains its styles and icons.
 */
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

export interface PageFile {
  mediaType: string;
  content: string;
}

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>MegaNest API</title>
    <link rel="icon" href="data:," />
    <link rel="stylesheet" href="docs/swagger-ui.css" />
  </head>
  <body>
    <div id="page"></div>
    <script src="docs/swagger-ui-bundle.js"></script>
    <script src="docs/start.js"></script>
  </body>
</html>
`;

/** Asks for a key if the document needs one, and sends it with the requests that the reader tries out. */
const script = `const slot = 'meganest-api-key';
const authorization = () => {
  const key = sessionStorage.getItem(slot);
  return key ? { authorization: 'Bearer ' + key } : {};
};
async function readDocument() {
  const answer = await fetch('openapi.json', { headers: authorization() });
  if (answer.status !== 401) return answer.json();
  const key = prompt('API key');
  if (key === null) throw new Error('The document needs an API key.');
  sessionStorage.setItem(slot, key);
  return readDocument();
}
readDocument().then((spec) =>
  SwaggerUIBundle({
    spec,
    dom_id: '#page',
    validatorUrl: null,
    requestInterceptor: (request) => {
      Object.assign(request.headers, authorization());
      return request;
    },
  }),
);
`;

const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
const fromSwagger = (name: string) => readFile(join(folder, name), 'utf8');

/** The files of the documentation page, by their path; all are served from here, none from the network. */
const files: Readonly<Record<string, { mediaType: string; read: () => Promise<string> }>> = {
  '': { mediaType: 'text/html; charset=utf-8', read: () => Promise.resolve(page) },
  'start.js': { mediaType: 'text/javascript; charset=utf-8', read: () => Promise.resolve(script) },
  'swagger-ui-bundle.js': {
    mediaType: 'text/javascript; charset=utf-8',
    read: () => fromSwagger('swagger-ui-bundle.js'),
  },
  'swagger-ui.css': { mediaType: 'text/css; charset=utf-8', read: () => fromSwagger('swagger-ui.css') },
};

/** A file of the page, `''` for the page itself; undefined if the name is unknown. */
async function readPageFile(name: string): Promise<PageFile | undefined> {
  const file = Object.hasOwn(files, name) ? files[name] : undefined;
  return file && { mediaType: file.mediaType, content: await file.read() };
}
