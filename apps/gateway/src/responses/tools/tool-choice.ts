import { type ToolChoice, invalidField } from '#contracts';
import type { CallTarget, ResponseToolChoice } from '#responses';

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
