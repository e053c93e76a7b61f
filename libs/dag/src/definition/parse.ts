import { parseDocument } from 'yaml';
import { compileMegaService } from './compile.js';
import { MegaServiceDefinitionError, ProblemList } from './problems.js';
import { megaServiceSchema, type MegaServiceSource } from './schema.js';
import type { ServiceLookup } from './target.js';
import type { MegaServiceDefinition } from './types.js';

/** The YAML of a mega service with its shape checked; `file` is only named in problems. */
export function readMegaServiceSource(text: string, file: string): MegaServiceSource {
  const problems = new ProblemList(file);
  const document = parseDocument(text, { prettyErrors: true });
  for (const error of document.errors) problems.add(error.message);
  problems.throwIfAny();
  const result = megaServiceSchema.safeParse(document.toJS());
  if (result.success) return result.data;
  problems.addIssues(result.error.issues);
  throw new MegaServiceDefinitionError(problems.problems);
}

/**
 * Reads a mega service from its YAML and validates it against the services there are.
 * Throws MegaServiceDefinitionError, which lists every problem with file, node and field.
 */
export function parseMegaService(text: string, file: string, lookup: ServiceLookup): MegaServiceDefinition {
  return compileMegaService(readMegaServiceSource(text, file), file, lookup);
}
