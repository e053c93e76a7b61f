import { EventEmitter, once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorCodes, MegaNestError, retrySeconds, type ErrorCode } from '#platform/contracts';
import { projectRoot } from '#platform/foundation';
import {
  Controller,
  Get,
  HttpException,
  Inject,
  Module,
  Param,
  Query,
  Res,
  ServiceUnavailableException,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { baseEnvironmentSchema } from '../config/environment.js';
import { Drain, stoppingError } from '../drain.js';
import { HealthController } from '../health/health.controller.js';
import { HealthRegistry } from '../health/health.registry.js';
import { createLogger } from '../logger.js';
import { serviceIdentity } from '../service-identity.js';
import { Admission } from './admission.js';
import { HttpErrorFilter, sendError } from './error.filter.js';
import { sendEventStream } from './event-stream.js';
import { createHttpAdapter } from './http-adapter.js';

/** Code that sets a status by itself, other than those of success and of a wrong method. */
const writesFailures = /\.(status|code)\((?!\)|20\d\)|405\))|\.writeHead\((?!20\d,)|\.statusCode = /;

/** Errors that say how long the caller is to wait, say nothing, or say what no header can hold. */
const waits = [undefined, 0, 0.2, 7];
const retryable = errorCodes.filter((code) => [429, 503].includes(new MegaNestError(code).status));

const thrown: Record<string, () => unknown> = {
  'an exception of the framework': () => new ServiceUnavailableException(),
  'a limit of the framework': () => new HttpException('slow down', 429),
  'an error with a status': () => Object.assign(new Error('under pressure'), { statusCode: 503 }),
  'a limit with a status': () => Object.assign(new Error('too many'), { statusCode: 429 }),
};

function failure(code: string, wait: string): unknown {
  const detail = 'it is away';
  const retryAfter = wait === 'undefined' ? undefined : Number(wait);
  return thrown[code]?.() ?? new MegaNestError(code as ErrorCode, { service: 'llm', detail, retryAfter });
}

// oxlint-disable-next-line require-yield -- it fails before its first frame
async function* failing(reason: unknown): AsyncGenerator<string> {
  await Promise.resolve();
  throw reason;
}

const gate = new EventEmitter();

@Controller()
class FailingController {
  @Get('thrown/:code')
  thrown(@Param('code') code: string, @Query('wait') wait: string): never {
    throw failure(code, wait);
  }

  @Get('sent/:code')
  sent(@Param('code') code: string, @Query('wait') wait: string, @Res() reply: FastifyReply): void {
    sendError(reply, MegaNestError.from(failure(code, wait), 'llm'));
  }

  @Get('streamed/:code')
  streamed(@Param('code') code: string, @Query('wait') wait: string, @Res() reply: FastifyReply) {
    return sendEventStream(reply, failing(failure(code, wait)), () => '');
  }

  @Get('hook/:code')
  hook(): string {
    return 'the hook failed to fail';
  }

  @Get('slow')
  async slow(): Promise<string> {
    gate.emit('begun');
    await once(gate, 'end');
    return 'slow';
  }

  @Get('fine')
  fine(): string {
    return 'fine';
  }
}

const identity = { service: 'test', title: 'test', description: 'A test.' };
const health = new HealthRegistry(identity);
health.register('model', () => Promise.reject(new Error('is away')));

@Module({
  controllers: [FailingController, HealthController],
  providers: [
    { provide: HealthRegistry, useValue: health },
    { provide: serviceIdentity, useValue: identity },
  ],
})
class FailingModule {
  constructor(@Inject(HealthRegistry) readonly registry: HealthRegistry) {}
}

describe('Retry-After', () => {
  let app: NestFastifyApplication;
  const drain = new Drain();
  const get = (url: string) => app.inject({ method: 'GET', url });

  beforeAll(async () => {
    const logger = createLogger('test', 'silent');
    const adapter = createHttpAdapter(baseEnvironmentSchema.parse({}), logger);
    app = await NestFactory.create(FailingModule, adapter, {
      logger: false,
      abortOnError: false,
      bodyParser: false,
    });
    app.useGlobalFilters(new HttpErrorFilter(identity, logger));
    const server = app.getHttpAdapter().getInstance();
    drain.guard(server);
    new Admission().guard(server, { service: 'test', maxRequests: 1, maxBytes: 0, bodyLimit: 1 });
    server.addHook('preHandler', async ({ params, query, url }) => {
      await Promise.resolve();
      if (url.startsWith('/hook/'))
        throw failure((params as { code: string }).code, (query as { wait: string }).wait);
    });
    await app.init();
    await server.ready();
  });
  afterAll(() => app?.close());

  it('is for errors that a retry may solve', () => {
    expect(retryable).toEqual(['rate_limit_exceeded', 'overloaded', 'service_unavailable']);
    for (const code of errorCodes)
      expect([code, retrySeconds(new MegaNestError(code)) !== undefined]).toEqual([
        code,
        retryable.includes(code),
      ]);
  });

  describe.each(['thrown', 'sent', 'streamed', 'hook'])('of an error that is %s', (how) => {
    it.each(retryable)('%s', async (code) => {
      for (const wait of waits) {
        const { statusCode, headers, body } = await get(`/${how}/${code}?wait=${wait}`);
        expect([statusCode, headers['retry-after']]).toEqual([
          new MegaNestError(code).status,
          String(Math.max(1, Math.ceil(wait ?? 1))),
        ]);
        expect(JSON.parse(body)).toMatchObject({ error: { code } });
      }
    });
  });

  it.each(Object.keys(thrown))('of %s', async (name) => {
    for (const how of ['thrown', 'hook']) {
      const { statusCode, headers, body } = await get(`/${how}/${encodeURIComponent(name)}`);
      expect([statusCode, headers['retry-after']]).toEqual([name.includes('limit') ? 429 : 503, '1']);
      expect(body).toContain('"error"');
    }
  });

  it('is written by the writer of errors and by health, and no other code writes such a status', () => {
    const isSource = (file: string) =>
      // Readers of documents answer nothing; they write blocks of code.
      file.endsWith('.ts') &&
      !/\.(spec|fixture|d)\.ts$|^web\/|^platform\/testing\/|^dataprep\/src\/reading\//.test(file);
    const writers = ['apps', 'libs'].flatMap((root) =>
      readdirSync(join(projectRoot, root), { recursive: true, encoding: 'utf8' })
        .filter(isSource)
        .filter((file) => writesFailures.test(readFileSync(join(projectRoot, root, file), 'utf8'))),
    );
    expect(writers.toSorted()).toEqual([
      'platform/service-kit/src/health/health.controller.ts',
      'platform/service-kit/src/http/error.filter.ts',
    ]);
  });

  it('of a process that is not well', async () => {
    for (const path of ['/ready', '/health', '/v1/health_check']) {
      const { statusCode, headers } = await get(path);
      expect([path, statusCode, headers['retry-after']]).toEqual([path, 503, '1']);
    }
  });

  it('of a process at its limit', async () => {
    const begun = once(gate, 'begun');
    const slow = get('/slow');
    await begun;
    const { statusCode, headers } = await get('/fine');
    gate.emit('end');
    expect((await slow).statusCode).toBe(200);
    expect([statusCode, headers['retry-after']]).toEqual([429, '1']);
  });

  it('of a process that stops', async () => {
    await drain.run({ delayMs: 0, graceMs: 0 });
    const { statusCode, headers } = await get('/fine');
    expect([statusCode, headers['retry-after']]).toEqual([503, '1']);
    expect(retrySeconds(stoppingError())).toBe(1);
  });
});
