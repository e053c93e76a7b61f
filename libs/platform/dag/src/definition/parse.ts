import { createHash } from 'node:crypto';
import { parseDocument } from 'yaml';
import {
  MegaServiceDefinitionError,
  ProblemList,
  megaServiceSchema,
  type MegaServiceSource,
  type NodeSource,
} from './source.js';
import { type ServiceLookup, findService, resolveTarget, type FoundService } from './target.js';
import type { MegaServiceDefinition, NodeDefinition, NodeTarget } from './types.js';
import { compileCondition, type Condition } from './condition.js';
import { ancestorLevels, findCycle, followersOf, sortTopologically } from './graph.js';
import { checkGuards, checkSkipping, checkStreaming, checkTimes, findOutput } from './rules.js';

/**
 * Parses the YAML of a mega service and checks its shape. `file` appears in error messages. Errors:
 * MegaServiceDefinitionError.
 */
export function readMegaServiceSource(text: string, file: string): MegaServiceSource {
  const problems = new ProblemList(file);
  checkSize(text, problems);
  problems.throwIfAny();
  const document = parseDocument(text, { prettyErrors: true });
  for (const error of document.errors) problems.add(error.message);
  problems.throwIfAny();
  const result = megaServiceSchema.safeParse(toValue(document, problems));
  problems.throwIfAny();
  if (result.success) return result.data;
  problems.addIssues(result.error.issues);
  throw new MegaServiceDefinitionError(problems.problems);
}

const maxCharacters = 100_000;
/** The time of the parser grows with the square of the fields of an object. */
const maxMarks = 5_000;
const marks = /[\n:,[{?*&!|>"-]/g;

/** Refuses what would take long to parse, by its length and by its lines and marks such as colons and brackets. */
function checkSize(text: string, problems: ProblemList): void {
  if (text.length > maxCharacters) problems.add(`has more than the limit of ${maxCharacters} characters`);
  else if ((text.match(marks)?.length ?? 0) > maxMarks)
    problems.add(`has more than the limit of ${maxMarks} lines, colons, commas, brackets and other marks`);
}

/** Resolves the aliases of a document. An alias without an anchor, or one alias too many, is a problem of the file. */
function toValue(document: { toJS(): unknown }, problems: ProblemList): unknown {
  try {
    return document.toJS();
  } catch (error) {
    problems.add(error instanceof Error ? error.message : String(error));
    return undefined;
  }
}

/**
 * Parses a mega service and validates it against the known services. Errors: MegaServiceDefinitionError, which
 * lists every problem with file, node and field.
 */
export function parseMegaService(text: string, file: string, lookup: ServiceLookup): MegaServiceDefinition {
  return compileMegaService(readMegaServiceSource(text, file), file, lookup);
}

/** Resolves the services, inputs and conditions of a mega service. Errors: MegaServiceDefinitionError. */
export function compileMegaService(
  source: MegaServiceSource,
  file: string,
  lookup: ServiceLookup,
): MegaServiceDefinition {
  return new Compiler(source, file, lookup).compile();
}

class Compiler {
  private readonly problems: ProblemList;
  private readonly services: ReadonlyMap<string, FoundService>;
  private readonly predecessors: ReadonlyMap<string, readonly string[]>;

  constructor(
    private readonly source: MegaServiceSource,
    private readonly file: string,
    lookup: ServiceLookup,
  ) {
    this.problems = new ProblemList(file);
    this.services = this.findServices(lookup);
    this.predecessors = this.findPredecessors();
  }

  compile(): MegaServiceDefinition {
    this.refuseCycles();
    this.problems.throwIfAny();
    const nodes = this.compileNodes();
    checkTimes(nodes, this.problems);
    checkGuards(nodes, this.problems);
    const output = findOutput(this.source.output, nodes, this.problems);
    if (output !== undefined) {
      checkStreaming(nodes, output, this.problems);
      checkSkipping(nodes, output, this.problems);
    }
    this.problems.throwIfAny();
    const { name, path, description, question, example } = this.source;
    const revision = revisionOf(this.source, this.services);
    const shown = { name, path, description, ...(question !== undefined && { question }), example };
    return { ...shown, revision, file: this.file, nodes, output: output ?? '' };
  }

  private findServices(lookup: ServiceLookup): Map<string, FoundService> {
    const services = new Map<string, FoundService>();
    for (const [node, { service, fallback }] of Object.entries(this.source.nodes)) {
      this.findOne(lookup, services, service, { node, field: 'service' });
      if (!fallback?.service) continue;
      this.findOne(lookup, services, fallback.service, { node, field: 'fallback.service' });
    }
    return services;
  }

  private findOne(
    lookup: ServiceLookup,
    services: Map<string, FoundService>,
    name: string,
    place: { node: string; field: string },
  ): void {
    if (services.has(name)) return;
    try {
      const found = findService(lookup, name);
      if (found) services.set(name, found);
      else this.problems.add(unknownService(name, lookup), place);
    } catch (error) {
      this.problems.add(error instanceof Error ? error.message : String(error), place);
    }
  }

  private findPredecessors(): Map<string, string[]> {
    const predecessors = new Map<string, string[]>();
    for (const [node, { after, inputs }] of Object.entries(this.source.nodes)) {
      const named = [
        ...after.map((name) => ({ name, field: 'after' })),
        ...Object.entries(inputs).map(([port, name]) => ({ name, field: `inputs.${port}` })),
      ];
      for (const { name, field } of named) {
        if (Object.hasOwn(this.source.nodes, name)) continue;
        this.problems.add(`there is no node "${name}"`, { node, field });
      }
      predecessors.set(node, [...new Set(named.map(({ name }) => name))]);
    }
    return predecessors;
  }

  private refuseCycles(): void {
    const cycle = findCycle(this.predecessors);
    if (!cycle) return;
    this.problems.add(`cycle: ${cycle.join(' → ')}`, { node: cycle[0], field: 'after' });
  }

  private compileNodes(): Map<string, NodeDefinition> {
    const followers = followersOf(this.predecessors);
    const nodes = new Map<string, NodeDefinition>();
    for (const name of sortTopologically(this.predecessors)) {
      const source = this.source.nodes[name];
      const node = source && this.compileNode(name, source, followers.get(name) ?? []);
      if (node) nodes.set(name, node);
    }
    return nodes;
  }

  private compileNode(name: string, source: NodeSource, followers: string[]): NodeDefinition | undefined {
    const target = this.resolve(name, source, '');
    if (!target) return undefined;
    const { optional, timeoutMs, retry, hedgeAfterMs, stream } = source;
    const fallback = this.resolveFallback(name, source);
    const fixed = [target, fallback].flatMap((one) => one?.kind.fixed ?? []);
    return {
      name,
      locked: new Set([...this.lockedNames(name, source, target), ...fixed]),
      target,
      fallback,
      after: this.predecessors.get(name) ?? [],
      followers,
      optional,
      timeoutMs,
      retry,
      hedgeAfterMs,
      when: this.compileWhen(name, source.when),
      stream,
    };
  }

  /** `true` locks all parameters. */
  private lockedNames(node: string, { locked }: NodeSource, { kind }: NodeTarget): Set<string> {
    const known = Object.keys(kind.parameters.shape);
    if (locked === true) return new Set(known);
    const unknown = locked.find((name) => !known.includes(name));
    if (unknown !== undefined)
      this.problems.add(`locked: there is no parameter "${unknown}"`, { node, field: 'locked' });
    return new Set(locked);
  }

  private resolveFallback(name: string, source: NodeSource) {
    const { fallback } = source;
    if (!fallback) return undefined;
    const service = fallback.service ?? source.service;
    const found = this.services.get(service);
    const usual = this.services.get(source.service);
    if (found && usual && found.kind.output !== usual.kind.output) {
      const message = `gives ${found.kind.output}, but "${source.service}" gives ${usual.kind.output}`;
      this.problems.add(message, { node: name, field: 'fallback.service' });
    }
    const ports = Object.keys(found?.kind.inputs ?? {});
    const inputs = Object.fromEntries(Object.entries(source.inputs).filter(([port]) => ports.includes(port)));
    return this.resolve(name, { service, params: fallback.params, inputs }, 'fallback.');
  }

  private resolve(node: string, source: Pick<NodeSource, 'service' | 'params' | 'inputs'>, prefix: string) {
    const { services, predecessors, problems } = this;
    const outputKindOf = (name: string): string | undefined => {
      const before = this.source.nodes[name];
      return before && services.get(before.service)?.kind.output;
    };
    return resolveTarget({ node, source, prefix, services, predecessors, outputKindOf, problems });
  }

  private compileWhen(node: string, when: string | undefined): Condition | undefined {
    if (when === undefined) return undefined;
    const place = { node, field: 'when' };
    try {
      const condition = compileCondition(when);
      const before = new Set(ancestorLevels(this.predecessors, node).flat());
      for (const name of condition.outputs) {
        if (!before.has(name)) this.problems.add(`outputs.${name}: no such node lies before it`, place);
      }
      return condition;
    } catch (error) {
      this.problems.add(error instanceof Error ? error.message : String(error), place);
      return undefined;
    }
  }
}

/** Descriptions count too: excluding them would cost more than it saves. */
function revisionOf(source: MegaServiceSource, services: ReadonlyMap<string, FoundService>): string {
  const inner = [...services.values()].map(({ megaService }) => megaService?.revision);
  return createHash('sha256')
    .update(JSON.stringify([source, inner]))
    .digest('hex')
    .slice(0, 12);
}

function unknownService(name: string, { registry }: ServiceLookup): string {
  return `unknown service "${name}" (there are: ${[...registry.keys()].join(', ')})`;
}
