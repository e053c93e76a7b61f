import { ownerOf } from '#service-kit';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';

/** Injects whose request it is, by its API key. What one owner stores does not exist for another. */
export const Owner = createParamDecorator((_data: unknown, context: ExecutionContext): string =>
  ownerOf(context.switchToHttp().getRequest<FastifyRequest>()),
);
