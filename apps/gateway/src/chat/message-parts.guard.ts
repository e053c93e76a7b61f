import { ownerOf } from '#platform/service-kit';
import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { MessageParts } from './message-parts.js';

/**
 * Reads the parts of a chat's messages that are not text; see {@link MessageParts}. Always returns true. It is a guard
 * because guards run before the pipe of the body, and because an interceptor costs each chat without such parts more
 * time than the parsing of its body.
 */
@Injectable()
export class MessagePartsGuard implements CanActivate {
  constructor(@Inject(MessageParts) private readonly parts: MessageParts) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const { body, meganestCall: call } = request;
    if (call) await this.parts.read(body, ownerOf(request), call);
    return true;
  }
}
