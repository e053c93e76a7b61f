import { createHash } from 'node:crypto';
import {
  createParamDecorator,
  Inject,
  Injectable,
  type ExecutionContext,
  type PipeTransform,
} from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { gatewayEnvironment, type GatewayEnvironment } from '../config/gateway.environment.js';

/** Whose everything is where no keys are configured, whatever key a client happens to send. */
const anonymous = 'anonymous';

const AuthorizationHeader = createParamDecorator(
  (_data: unknown, context: ExecutionContext): string | undefined =>
    context.switchToHttp().getRequest<FastifyRequest>().headers.authorization,
);

@Injectable()
class OwnerPipe implements PipeTransform<string | undefined, string> {
  constructor(@Inject(gatewayEnvironment) private readonly environment: GatewayEnvironment) {}

  transform(authorization: string | undefined): string {
    return ownerOf(authorization, this.environment);
  }
}

/** Whose request it is, by its Authorization header. */
export function ownerOf(authorization: string | undefined, { API_KEYS }: GatewayEnvironment): string {
  if (API_KEYS.length === 0) return anonymous;
  const key = (authorization ?? '').replace(/^bearer\s+/i, '').trim();
  return createHash('sha256').update(key).digest('hex');
}

/** Injects whose request it is: a hash of the API key. What one owner stores does not exist for another. */
export const Owner = () => AuthorizationHeader(OwnerPipe);
