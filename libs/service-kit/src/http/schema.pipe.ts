import { parseOrThrow } from '#contracts';
import type { PipeTransform } from '@nestjs/common';
import type { z } from 'zod';

/** Validates a body or query with a schema: `@Body(new SchemaPipe(schema))`. Errors: 400 with the field's path. */
export class SchemaPipe<Schema extends z.ZodType> implements PipeTransform<unknown, z.output<Schema>> {
  constructor(readonly schema: Schema) {}

  transform(value: unknown): z.output<Schema> {
    return parseOrThrow(this.schema, value ?? {});
  }
}
