import { MegaNestError } from '#contracts';
import { modelTools, type ResponseSettings } from '#responses';
import type { ServerToolSource } from './server-tool.js';
import { choosableTargets, toolChoice, type Choosable } from './tool-choice.js';

export interface ToolPlanOptions {
  findSource: (type: string) => ServerToolSource | undefined;
  /** A mega service answers, which calls no tools. */
  isMegaService: boolean;
}

/**
 * Checks the tools of a request before its response begins, and answers what of them has no effect: types that clients
 * send and this server does not know, and all of them where a mega service answers.
 * Errors: invalid_request with the path of the tool or `tool_choice`; unsupported_parameter where a mega service is to
 * call one or to answer in another form than text.
 */
export function planTools(
  { tools, tool_choice: choice, max_tool_calls: most, text }: ResponseSettings,
  { findSource, isMegaService }: ToolPlanOptions,
): string[] {
  if (isMegaService) {
    if (toolChoice(choice, [anything]).mode === 'required')
      throw onlyAnswers('tool_choice', 'calls no tools');
    if (text.format.type !== 'text') throw onlyAnswers('text.format', 'writes sentences');
    const unused = { tools: tools.length > 0 && choice !== 'none', max_tool_calls: most !== null };
    return Object.entries(unused).flatMap(([name, is]) => (is ? [name] : []));
  }
  const own = modelTools(tools);
  const choosable = choosableTargets(own.targets);
  const ignored: string[] = [];
  for (const entry of own.others) {
    const source = findSource(entry.type);
    if (!source) {
      ignored.push(`tools.${entry.type}`);
      continue;
    }
    source.check(entry, `tools[${tools.indexOf(entry)}]`);
    const { server_label: label } = entry as { server_label?: unknown };
    choosable.push({ ...anything, type: entry.type, ...(typeof label === 'string' && { group: label }) });
  }
  toolChoice(choice, choosable);
  return [...new Set(ignored)];
}

const anything: Choosable = { modelName: '', type: '*', anyName: true };

function onlyAnswers(param: string, what: string): MegaNestError {
  const detail = `${param}: a mega service answers from its documents and ${what}; name the language model itself`;
  return new MegaNestError('unsupported_parameter', { detail, param });
}
