import { invalidField, unsupportedField, type ToolChoice } from '#platform/contracts';
import { modelTools, type CallTarget, type ResponseSettings, type ResponseToolChoice } from '#api/responses';
import type { Provider, Type } from '@nestjs/common';
import { gatewayEnvironment, type GatewayEnvironment } from '../../config/gateway.environment.js';
import { BuiltInTools } from '../../document-tools/built-in-tools.js';
import { documentToolSources } from './document-tools.js';
import { FileSearchSource } from './file-search.js';
import { McpToolSource } from './mcp/mcp-source.js';
import type { ServerToolSource } from './server-tool.js';

interface ToolPlanOptions {
  findSource: (type: string) => ServerToolSource | undefined;
  /** A mega service answers. It has its own documents and does not call servers. */
  isMegaService: boolean;
  /** The model of the mega service, or the language model, calls tools. */
  callsTools: boolean;
  /** A request whose only tools are not served is refused; otherwise their types are without effect. */
  refusesUnserved?: boolean;
}

/**
 * Checks the tools of a request before its response begins. Returns the names of fields and types without effect: types
 * that this server does not know, and `tools` where the model would have to call them but does not call tools.
 * Errors: invalid_request with the path of the tool or `tool_choice`; unsupported_parameter where all tools of the
 * request are built-in tools that are not served, so that the answer would be another one, where the request requires
 * a call from a model that does not call tools, or a form other than text from a mega service with such a model, or
 * file_search from a mega service.
 */
export function planTools(settings: ResponseSettings, options: ToolPlanOptions): string[] {
  const { tool_choice: choice, max_tool_calls: most, text, tools } = settings;
  const { isMegaService, callsTools } = options;
  const search = tools.findIndex(({ type }) => type === 'file_search');
  if (isMegaService && search !== -1 && choice !== 'none') {
    // An answer from other documents than the named ones would mislead.
    const reason = 'a mega service searches its own documents; name a language model to search vector stores';
    throw unsupportedField(`tools[${search}]`, reason);
  }
  if (isMegaService && !callsTools && text.format.type !== 'text') {
    const reason =
      'a mega service with this model answers with sentences of its documents; name the language model instead';
    throw unsupportedField('text.format', reason);
  }
  const found = checked(settings, options);
  if (callsTools) {
    toolChoice(choice, found.choosable);
    if (choice !== 'none') assertSomeServed(settings, found.ignored, options);
    return found.ignored;
  }
  if (
    toolChoice(choice, [...found.choosable, anything]).mode === 'required' &&
    !isDone(choice, found.choosable)
  )
    throw unsupportedField('tool_choice', 'the model does not call tools');
  if (choice !== 'none') assertSomeServed(settings, found.ignored, options);
  const unused = found.uncallable && choice !== 'none' ? ['tools'] : [];
  if (!isMegaService) return [...unused, ...found.ignored];
  return [...unused, ...(most === null ? [] : ['max_tool_calls'])];
}

/**
 * Refuses a request that has no other tools than built-in ones that are not served. Agents such as the Codex CLI send
 * such tools besides their own, and work without them.
 */
function assertSomeServed(
  { tools }: ResponseSettings,
  unserved: readonly string[],
  { refusesUnserved = true }: ToolPlanOptions,
): void {
  const isUnserved = ({ type }: { type: string }) => unserved.includes(`tools.${type}`);
  if (!refusesUnserved || tools.length === 0 || !tools.every(isUnserved)) return;
  const reason = `the built-in tool ${tools[0]!.type} is not served here; UNSERVED_TOOLS=ignore answers without it`;
  throw unsupportedField('tools[0].type', reason);
}

const anything: Choosable = { modelName: '', type: '*', anyName: true };

/** The tools to choose from, the types without effect, and whether a tool needs calls that the model cannot make. */
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

/** Whether tools that work without a call satisfy the choice. */
function isDone(choice: ResponseSettings['tool_choice'], choosable: readonly Choosable[]): boolean {
  try {
    toolChoice(choice, choosable);
    return true;
  } catch {
    return false;
  }
}

/** A tool that the model may call, with the names that a `tool_choice` may use for it. */
export interface Choosable {
  /** Name of the tool for the model. */
  modelName: string;
  /** `function`, `custom`, or the type of the entry that the server's tool came from. */
  type: string;
  /** Name within its namespace or server; undefined for tools without a name besides their type. */
  name?: string;
  /** Namespace or `server_label`. */
  group?: string;
  /** Matches every name, because the names of a server's tools are not known yet. Type `*` matches every tool. */
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

/** The caller's tools as targets of a `tool_choice`. */
export function choosableTargets(targets: ReadonlyMap<string, CallTarget>): Choosable[] {
  return [...targets].map(([modelName, { type, name, namespace: group }]) => ({
    modelName,
    type,
    name,
    group,
  }));
}

/**
 * A request's `tool_choice` in the form for the model. `choosable`: the tools that the model can call.
 * Errors: invalid_request for a choice of another tool.
 */
export function toolChoice(choice: ResponseToolChoice, choosable: readonly Choosable[]): ToolChoice {
  if (typeof choice === 'string') {
    if (choice === 'required' && choosable.length === 0)
      throw invalidField(
        'tool_choice',
        'must not be required, because the request has no tool that the model can call',
      );
    return { mode: choice };
  }
  const asked = choice as ChoiceObject;
  if (asked.type !== 'allowed_tools') return { mode: 'required', names: namesOf([asked], choosable) };
  const mode = asked.mode === 'required' ? 'required' : 'auto';
  return { mode, names: namesOf(asked.tools ?? [], choosable) };
}

/** The choice after the first call of a tool: a call is no longer required, and the list of allowed tools stays. */
export function laterChoice(choice: ResponseToolChoice, first: ToolChoice): ToolChoice {
  if (first.mode !== 'required') return first;
  const isList = typeof choice === 'object' && choice.type === 'allowed_tools';
  return { mode: 'auto', ...(isList && first.names && { names: first.names }) };
}

/** The choice limited to the remaining tools; undefined where the choice allows no remaining tool. */
export function narrowed(choice: ToolChoice, left: ReadonlySet<string>): ToolChoice | undefined {
  if (!choice.names) return left.size > 0 ? choice : undefined;
  const names = choice.names.filter((name) => left.has(name));
  return names.length > 0 ? { ...choice, names } : undefined;
}

function namesOf(asked: readonly ChoiceObject[], choosable: readonly Choosable[]): string[] {
  const names = choosable.filter((tool) => asked.some((one) => matches(one, tool)));
  if (names.length === 0)
    throw invalidField('tool_choice', `does not name a tool of the request: ${JSON.stringify(asked)}`);
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
  constructor(
    private readonly sources: readonly ServerToolSource[],
    /** See {@link ToolPlanOptions.refusesUnserved}. */
    readonly refusesUnserved: boolean,
  ) {}

  find(type: string): ServerToolSource | undefined {
    return this.sources.find((source) => source.type === type);
  }
}

/** All sources. A new type of tool needs a class and a line here. */
const sourceClasses: Type<ServerToolSource>[] = [FileSearchSource, McpToolSource];

export const serverToolProviders: Provider[] = [
  ...sourceClasses,
  {
    provide: ServerToolSources,
    inject: [gatewayEnvironment, BuiltInTools, ...sourceClasses],
    useFactory: (
      { UNSERVED_TOOLS }: GatewayEnvironment,
      builtIn: BuiltInTools,
      ...sources: ServerToolSource[]
    ) => new ServerToolSources([...sources, ...documentToolSources(builtIn)], UNSERVED_TOOLS === 'refuse'),
  },
];
