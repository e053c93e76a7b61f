import { MegaNestError, type Tool } from '#contracts';
import type { GenerationEvent } from '#generation';

const tagParam = /^constraint\.tags\.(\d+)(?:\.(schema|parameters|lark))?(.*)$/;

/**
 * The same events. An error about the constraint of a tool gets the path of that tool: `tools[2].parameters.not`,
 * `tools[0].grammar.definition`. `tools` are the tools of the constraint, in the order of its tags; `given` are the tools of
 * the request.
 */
export async function* namingTools(
  events: AsyncIterable<GenerationEvent>,
  tools: readonly Tool[],
  given: readonly Tool[],
): AsyncGenerator<GenerationEvent, void, void> {
  try {
    yield* events;
  } catch (error) {
    throw error instanceof MegaNestError ? withToolParam(error, tools, given) : error;
  }
}

function withToolParam(error: MegaNestError, tools: readonly Tool[], given: readonly Tool[]): MegaNestError {
  const body = error.toBody();
  const found = tagParam.exec(body.param ?? '');
  const tool = tools[Number(found?.[1])];
  if (!found || !tool) return error;
  const field = tool.type === 'custom' ? 'grammar.definition' : `parameters${found[3] ?? ''}`;
  const param = `tools[${given.indexOf(tool)}].${field}`;
  const message = body.message.replace(found[0], param);
  return MegaNestError.fromBody({ ...body, message, param });
}
