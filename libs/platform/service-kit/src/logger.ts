import type { LoggerService } from '@nestjs/common';
import { pino, stdTimeFunctions, type Logger } from 'pino';

export function createLogger(service: string, level: string): Logger {
  return pino({ level, base: { service }, timestamp: stdTimeFunctions.isoTime });
}

/** Nest's own messages through pino; its start-up chatter goes to debug. */
export class NestLogger implements LoggerService {
  constructor(private readonly logger: Logger) {}

  log(message: unknown, context?: unknown): void {
    this.logger.debug({ context }, String(message));
  }

  error(message: unknown, ...details: unknown[]): void {
    const error = [message, ...details].find((item) => item instanceof Error);
    this.logger.error({ err: error, details: error ? undefined : details }, describe(message));
  }

  warn(message: unknown, context?: unknown): void {
    this.logger.warn({ context }, describe(message));
  }

  debug(message: unknown, context?: unknown): void {
    this.logger.debug({ context }, describe(message));
  }
}

function describe(message: unknown): string {
  return message instanceof Error ? message.message : String(message);
}
