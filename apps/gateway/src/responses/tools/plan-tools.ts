import { MegaNestError } from '#contracts';
import { modelTools, type ResponseSettings } from '#responses';
import type { ServerToolSource } from './server-tool.js';
import { choosableTargets, toolChoice, type Choosable } from './tool-choice.js';

export interface ToolPlanOptions {
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
  if (isMegaService && !callsTools && text.format.type !== 'text') throw writesSentences();
  const found = checked(settings, options);
  if (callsTools) {
    toolChoice(choice, found.choosable);
    return found.ignored;
  }
  if (
    toolChoice(choice, [...found.choosable, anything]).mode === 'required' &&
    !isDone(choice, found.choosable)
  )
    throw callsNone();
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

function callsNone(): MegaNestError {
  const detail = 'tool_choice: the model calls no tools';
  return new MegaNestError('unsupported_parameter', { detail, param: 'tool_choice' });
}

function writesSentences(): MegaNestError {
  const detail =
    'text.format: a mega service with this model answers in sentences of its documents; name the language model itself';
  return new MegaNestError('unsupported_parameter', { detail, param: 'text.format' });
}
