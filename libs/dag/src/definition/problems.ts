import type { z } from 'zod';

/** A problem of a definition, and its position. */
export interface DefinitionProblem {
  file: string;
  node?: string;
  /** Path of the field within the node, or within the file if `node` is absent. */
  field?: string;
  message: string;
}

/** Thrown if a mega service's file is invalid; the message lists every problem, one per line. */
export class MegaServiceDefinitionError extends Error {
  override readonly name = 'MegaServiceDefinitionError';

  constructor(readonly problems: readonly DefinitionProblem[]) {
    super(problems.map(formatProblem).join('\n'));
  }
}

/** True if a file uses a service that was not announced yet; its other problems may be consequences. */
export function lacksService(error: Error): boolean {
  if (!(error instanceof MegaServiceDefinitionError)) return false;
  return error.problems.some(({ message }) => message.startsWith('unknown service'));
}

/** `chatqna.yaml: node "llm": params.max_tokens: …` */
export function formatProblem({ file, node, field, message }: DefinitionProblem): string {
  const place = [file, node !== undefined && `node "${node}"`, field];
  return [...place.filter(Boolean), message].join(': ');
}

/** Collects the problems of a file, so that its author sees all of them at once. */
export class ProblemList {
  readonly problems: DefinitionProblem[] = [];

  constructor(private readonly file: string) {}

  add(message: string, place: { node?: string; field?: string } = {}): void {
    this.problems.push({ file: this.file, ...place, message });
  }

  addIssues(issues: readonly z.core.$ZodIssue[]): void {
    for (const issue of issues) this.addIssue(issue);
  }

  throwIfAny(): void {
    if (this.problems.length > 0) throw new MegaServiceDefinitionError(this.problems);
  }

  private addIssue(issue: z.core.$ZodIssue): void {
    const path = issue.path.map(String);
    const inNode = path[0] === 'nodes' && path.length > 1;
    const node = inNode ? path[1] : undefined;
    const fields = inNode ? path.slice(2) : path;
    if (issue.code !== 'unrecognized_keys') {
      const { message } = (issue.code === 'invalid_key' && issue.issues[0]) || issue;
      this.add(message, { node, field: fields.join('.') || undefined });
      return;
    }
    for (const key of issue.keys) this.add('unknown key', { node, field: [...fields, key].join('.') });
  }
}
