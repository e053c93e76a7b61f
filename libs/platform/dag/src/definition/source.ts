import { z } from 'zod';

const nodeNameSchema = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9_-]*$/, 'a node name is letters, digits, - and _, and begins with a letter');

/** Maximum delay of a timer; a longer one fires at once. */
const maxTimerMs = 2 ** 31 - 1;

const paramsSchema = z.record(z.string(), z.unknown());

const nodeSchema = z.strictObject({
  service: z.string().min(1),
  after: z.array(nodeNameSchema).default([]),
  inputs: z.record(z.string(), nodeNameSchema).default({}),
  params: paramsSchema.default({}),
  locked: z.union([z.literal(true), z.array(z.string().min(1))]).default([]),
  optional: z.boolean().default(false),
  timeoutMs: z.int().min(1).max(maxTimerMs).optional(),
  retry: z
    .strictObject({ attempts: z.int().min(1).max(10), backoffMs: z.int().min(0).max(60_000).default(100) })
    .default({ attempts: 1, backoffMs: 100 }),
  hedgeAfterMs: z.int().min(1).max(maxTimerMs).optional(),
  when: z.string().min(1).optional(),
  fallback: z
    .strictObject({ service: z.string().min(1).optional(), params: paramsSchema.default({}) })
    .optional(),
  stream: z.boolean().default(false),
});

/** A node of the YAML, with defaults. */
export type NodeSource = z.output<typeof nodeSchema>;

/** Schema of a mega service's YAML, before services, inputs and conditions are resolved. */
export const megaServiceSchema = z.strictObject({
  name: z
    .string()
    .regex(/^[A-Za-z0-9][\w.-]*$/, 'a name is letters, digits, . - and _: it is also a model name'),
  path: z
    .string()
    .regex(/^\/[\w./-]+$/, 'a path begins with / and has letters, digits, . _ - and /')
    .optional(),
  description: z.string().min(1),
  /** The field of a body with the question, such as `source_code`; the usual ones work besides. */
  question: z
    .string()
    .regex(/^[A-Za-z]\w*$/, 'a field is letters, digits and _')
    .optional(),
  /** Example request body for the listing of mega services. */
  example: z.record(z.string(), z.unknown()).optional(),
  output: nodeNameSchema.optional(),
  nodes: z
    .record(nodeNameSchema, nodeSchema)
    .refine((nodes) => Object.keys(nodes).length > 0, 'a mega service has at least one node'),
});

/** A mega service as parsed from YAML. */
export type MegaServiceSource = z.output<typeof megaServiceSchema>;

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
function formatProblem({ file, node, field, message }: DefinitionProblem): string {
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
