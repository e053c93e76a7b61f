import { invalidField } from '#contracts';
import { ownerOf, type HttpCall } from '#service-kit';
import { Inject, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { InputFiles } from './input-files.js';
import { messageParts } from './message-parts.js';

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
