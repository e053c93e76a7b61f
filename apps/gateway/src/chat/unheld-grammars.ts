import type { ModelInfo, Tool } from '#contracts';

/**
 * Grammars of custom tools that a model is told of and not held to: those of an engine elsewhere, which writes its
 * prompts and finds the calls by itself.
 */
export function unheldGrammars(tools: readonly Tool[], { templateVariables }: ModelInfo): string[] {
  if (templateVariables !== undefined) return [];
  return tools.flatMap((tool) =>
    tool.type === 'custom' && tool.grammar ? [`tools.${tool.name}.format`] : [],
  );
}
