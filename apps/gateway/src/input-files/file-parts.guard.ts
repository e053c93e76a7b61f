import { invalidField } from '#contracts';
import { type HttpCall, ownerOf } from '#service-kit';
import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { InputFiles } from './input-files.js';

const partSchema = z.looseObject({ file: z.looseObject({}) });

/**
 * The models behind chat completions read text, so that `file` parts become the text of their files first, as `input_file`
 * parts of a response do. Lets every request pass; it is a guard since those come before the body's pipe. Errors: those of
 * {@link InputFiles}, with the path of the part as `param`.
 */
@Injectable()
export class FilePartsGuard implements CanActivate {
  constructor(@Inject(InputFiles) private readonly files: InputFiles) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const { body, meganestCall: call } = request;
    if (!call) return true;
    for (const { content, index, path } of messageParts(body, 'file'))
      content[index] = {
        type: 'text',
        text: await this.#textOf(content[index], path, ownerOf(request), call),
      };
    return true;
  }

  #textOf(part: unknown, path: string, owner: string, call: HttpCall): Promise<string> {
    const param = `${path}.file`;
    const parsed = partSchema.safeParse(part);
    if (parsed.success) return this.files.text(parsed.data.file, param, owner, call);
    throw invalidField(param, 'must be an object with file_data or file_id');
  }
}

const bodySchema = z.looseObject({ messages: z.array(z.unknown()) });

/** A part of a message, and where it lies, so that another one can take its place. */
export interface MessagePart {
  content: unknown[];
  index: number;
  path: string;
}

/** The parts of a type in the messages of a chat; whatever else is wrong with the body is for its schema to say. */
export function messageParts(body: unknown, type: string): MessagePart[] {
  const { messages = [] } = bodySchema.safeParse(body).data ?? {};
  return messages.flatMap((message, position) => {
    const content = (message as { content?: unknown } | null)?.content;
    if (!Array.isArray(content)) return [];
    return content.flatMap((part: { type?: unknown } | null, index) => {
      const path = `messages[${position}].content[${index}]`;
      return part?.type === type ? [{ content, index, path }] : [];
    });
  });
}
