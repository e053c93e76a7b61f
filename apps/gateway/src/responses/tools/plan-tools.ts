import { invalidField, unsupportedField, type ToolChoice } from '#contracts';
import { modelTools, type CallTarget, type ResponseSettings, type ResponseToolChoice } from '#responses';
import type { Provider, Type } from '@nestjs/common';
import { FileSearchSource } from './file-search.js';
import { McpToolSource } from './mcp/mcp-source.js';
import type { ServerToolSource } from './server-tool.js';

interface ToolPlanOptions {
  findSource: (type: string) => ServerToolSource | undefined;
  /** A mega service answers, which has documents of its own and asks no servers. */
  isMegaService: boolean;
  /** Its model, or the language model itself, calls tools. */
  callsTools: boolean;
}

/**
 * Checks the tools of a request before its response begins, and answers what of them has no effect: types that clients
 * send and this server does not know, and all that would have to be called where the model calls none.
 * Errors: invalid_request with the path of the tool or `tool_choice`; unsupported_parameter where a model that calls none is to
 * call one, or a mega service with such a model is to answer in another form than text.
 */
export function planTools(settings: ResponseSettings, options: ToolPlanOptions): string[] {
  const { tool_choice: choice, max_tool_calls: most, text } = settings;
  const { isMegaService, callsTools } = options;
  if (isMegaService && !callsTools && text.format.type !== 'text') {
    const reason =
      'a mega service with this model answers in sentences of its documents; name the language model itself';
    throw unsupportedField('text.format', reason);
  }
  const found = checked(settings, options);
  if (callsTools) {
    toolChoice(choice, found.choosable);
    return found.ignored;
  }
  if (
    toolChoice(choice, [...found.choosable, anything]).mode === 'required' &&
    !isDone(choice, found.choosable)
  )
    throw unsupportedField('tool_choice', 'the model calls no tools');
  const unused = found.uncallable && choice !== 'none' ? ['tools'] : [];
  if (!isMegaService) return [...unused, ...found.ignored];
  return [...unused, ...(most === null ? [] : ['max_tool_calls'])];
}

const anything: Choosable = { modelName: '', type: '*', anyName: true };

/** The tools that can be chosen, the types that have no effect, and whether there are tools that the model would have to call. */
function checked(
  { tools }: ResponseSettings,
  { findSource, isMegaService, callsTools }: ToolPlanOptions,
): { choosable: Choosable[]; ignored: string[]; uncallable: boolean } {
  const own = modelTools(tools);
  const choosable = callsTools ? choosableTargets(own.targets) : [];
  const ignored = new Set<string>();
  let uncallable = !callsTools && (own.targets.size > 0 || (isMegaService && own.others.length > 0));
  for (const entry of own.others) {
    const source = isMegaService ? undefined : findSource(entry.type);
    source?.check(entry, `tools[${tools.indexOf(entry)}]`);
    if (!source) ignored.add(`tools.${entry.type}`);
    if (!source) continue;
    if (!callsTools && !source.worksUncalled) {
      uncallable = true;
      continue;
    }
    const { server_label: label } = entry as { server_label?: unknown };
    choosable.push({ ...anything, type: entry.type, ...(typeof label === 'string' && { group: label }) });
  }
  return { choosable, ignored: [...ignored], uncallable };
}

/** Whether a choice is content with what is done without a call. */
function isDone(choice: ResponseSettings['tool_choice'], choosable: readonly Choosable[]): boolean {
  try {
    toolChoice(choice, choosable);
    return true;
  } catch {
    return false;
  }
}

/** A tool that the model may call, with what a `tool_choice` can name it by. */
export interface Choosable {
  /** What the model calls it by. */
  modelName: string;
  /** `function`, `custom`, or the type of the entry that the server's tool came from. */
  type: string;
  /** Within its namespace or server; undefined for tools that are named by their type alone. */
  name?: string;
  /** Namespace or `server_label`. */
  group?: string;
  /** Before a server was asked its tools may have any name; with type `*` it stands for whatever there is. */
  anyName?: boolean;
}

interface ChoiceObject {
  type: string;
  name?: string;
  namespace?: string;
  server_label?: string;
  mode?: string;
  tools?: ChoiceObject[];
}

/** What the caller's tools can be chosen by. */
export function choosableTargets(targets: ReadonlyMap<string, CallTarget>): Choosable[] {
  return [...targets].map(([modelName, { type, name, namespace: group }]) => ({
    modelName,
    type,
    name,
    group,
  }));
}

/**
 * What the model is told of a request's `tool_choice`. `choosable` are the tools that it can call.
 * Errors: invalid_request for a choice of what is not among them.
 */
export function toolChoice(choice: ResponseToolChoice, choosable: readonly Choosable[]): ToolChoice {
  if (typeof choice === 'string') {
    if (choice === 'required' && choosable.length === 0)
      throw invalidField('tool_choice', 'tools has none that can be called');
    return { mode: choice };
  }
  const asked = choice as ChoiceObject;
  if (asked.type !== 'allowed_tools') return { mode: 'required', names: namesOf([asked], choosable) };
  const mode = asked.mode === 'required' ? 'required' : 'auto';
  return { mode, names: namesOf(asked.tools ?? [], choosable) };
}

/** The choice once a tool has been called: a call is no longer demanded, what is allowed stays. */
export function laterChoice(choice: ResponseToolChoice, first: ToolChoice): ToolChoice {
  if (first.mode !== 'required') return first;
  const isList = typeof choice === 'object' && choice.type === 'allowed_tools';
  return { mode: 'auto', ...(isList && first.names && { names: first.names }) };
}

/** The choice among the tools that are left; undefined where none of the chosen is. */
export function narrowed(choice: ToolChoice, left: ReadonlySet<string>): ToolChoice | undefined {
  if (!choice.names) return left.size > 0 ? choice : undefined;
  const names = choice.names.filter((name) => left.has(name));
  return names.length > 0 ? { ...choice, names } : undefined;
}

function namesOf(asked: readonly ChoiceObject[], choosable: readonly Choosable[]): string[] {
  const names = choosable.filter((tool) => asked.some((one) => matches(one, tool)));
  if (names.length === 0)
    throw invalidField('tool_choice', `it names none of the tools: ${JSON.stringify(asked)}`);
  return names.map(({ modelName }) => modelName);
}

function matches(asked: ChoiceObject, tool: Choosable): boolean {
  if (tool.type === '*') return true;
  if (asked.type !== tool.type) return false;
  const group = asked.namespace ?? asked.server_label;
  return (
    (tool.anyName === true ||
      asked.name === undefined ||
      asked.name === tool.name ||
      asked.name === tool.modelName) &&
    (group === undefined || group === tool.group)
  );
}

/** Finds the source of a type of tools. */
export class ServerToolSources {
  constructor(private readonly sources: readonly ServerToolSource[]) {}

  find(type: string): ServerToolSource | undefined {
    return this.sources.find((source) => source.type === type);
  }
}

/** The sources there are. A new type of tool is a class and a line here. */
const sourceClasses: Type<ServerToolSource>[] = [FileSearchSource, McpToolSource];

export const serverToolProviders: Provider[] = [
  ...sourceClasses,
  {
    provide: ServerToolSources,
    inject: sourceClasses,
    useFactory: (...sources: ServerToolSource[]) => new ServerToolSources(sources),
  },
];
