import type { ModelInfo, Tool } from '#contracts';

/**
 * Names the grammars of custom tools that are described to the model but not enforced: a remote engine renders its own
 * prompts and parses its own tool calls.
 */
export function unenforcedGrammars(tools: readonly Tool[], { templateVariables }: ModelInfo): string[] {
  if (templateVariables !== undefined) return [];
  return tools.flatMap((tool) =>
    tool.type === 'custom' && tool.grammar ? [`tools.${tool.name}.format`] : [],
  );
}
