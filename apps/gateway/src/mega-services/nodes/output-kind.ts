import { invalidField } from '#contracts';
import type { MegaServiceDefinition } from '#dag';

/** Kind of what a mega service gives: `answer`, `documents`, `vectors`, …. */
export function outputKindOf({ nodes, output }: MegaServiceDefinition): string {
  return nodes.get(output)?.target.kind.output ?? '';
}

/** True of the mega services that are models for chats and responses. */
export function givesAnswers(definition: MegaServiceDefinition): boolean {
  return outputKindOf(definition) === 'answer';
}

/** Errors: invalid_request for a mega service that cannot answer a chat, naming its own path. */
export function assertGivesAnswers(definition: MegaServiceDefinition): void {
  if (givesAnswers(definition)) return;
  const { name, path } = definition;
  const where = path === undefined ? 'it is for other mega services' : `use POST ${path}`;
  throw invalidField('model', `${name} gives ${outputKindOf(definition)}, no answers; ${where}`);
}
