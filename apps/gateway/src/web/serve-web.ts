import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot } from '#platform/foundation';
import { EnvironmentError } from '#platform/service-kit';
import fastifyStatic from '@fastify/static';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply } from 'fastify';

/** Output folder of the web app's build. */
const built = join(projectRoot, 'dist/web');

/** Placeholder in the page. Each response replaces it with a new nonce. */
const placeholder = 'NONCE_OF_THIS_ANSWER';

const nonceBytes = 16;

/**
 * Serves the web app at `/`. Browsers never cache the page, and cache its files for a year, because the names of the
 * files change with their content. The requests need no key: the page asks the user for it. Errors: EnvironmentError if
 * the web app is not built.
 */
export async function serveWeb(app: NestFastifyApplication, folder = built): Promise<void> {
  const page = await readPage(folder);
  await app.register(async (server: FastifyInstance) => {
    server.addHook('onRoute', (route) => {
      route.config = { ...route.config, withoutKey: true };
    });
    server.get('/', (_request, reply) => sendPage(reply, page));
    await server.register(fastifyStatic, {
      root: join(folder, 'assets'),
      prefix: '/assets/',
      preCompressed: true,
      index: false,
      immutable: true,
      maxAge: '365d',
      setHeaders: (reply) => void reply.header('x-content-type-options', 'nosniff'),
    });
    // Fastify waits for a returned reply, with listeners that add up to a warning.
    server.get('/favicon.svg', (_request, reply) => {
      void reply.sendFile('favicon.svg', folder, { maxAge: '1d', immutable: false });
    });
  });
}

async function readPage(folder: string): Promise<string> {
  try {
    return await readFile(join(folder, 'index.html'), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new EnvironmentError(
      `WEB_UI: the web app is not built in ${folder}. Run npm run build, or set WEB_UI=false.`,
    );
  }
}

function sendPage(reply: FastifyReply, page: string): FastifyReply {
  const nonce = randomBytes(nonceBytes).toString('base64url');
  return reply
    .headers({
      'cache-control': 'no-store',
      'content-security-policy': policyOf(nonce),
      'cross-origin-opener-policy': 'same-origin',
      'permissions-policy': 'camera=(), geolocation=(), microphone=(self)',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    })
    .type('text/html; charset=utf-8')
    .send(page.replaceAll(placeholder, nonce));
}

/**
 * The content security policy: everything comes from this gateway, and the nonce allows the styles of the components.
 */
function policyOf(nonce: string): string {
  const directives = [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self'",
    "font-src 'self'",
    "connect-src 'self'",
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  return directives.join('; ');
}
