import { Code } from '@mantine/core';
import type { ReactElement } from 'react';
import { useText } from '../i18n/text';
import type { OutputItem } from './turns';

/** What came before the answer, folded: thoughts of the model and calls of tools. */
export function Steps({ output }: { output: readonly OutputItem[] }): ReactElement[] {
  const t = useText();
  return output.flatMap((item) => {
    const step = stepOf(item);
    if (!step) return [];
    const label = step.name === undefined ? t('thoughts') : t('toolCall', { name: step.name });
    return (
      <details key={item.id} className="step">
        <summary>{label}</summary>
        <Code block>{step.body}</Code>
      </details>
    );
  });
}

function stepOf(item: OutputItem): { name?: string; body: string } | undefined {
  switch (item.type) {
    case 'reasoning': {
      const parts = item.content?.length ? item.content : item.summary;
      return parts.length > 0 ? { body: parts.map(({ text }) => text).join('\n') } : undefined;
    }
    case 'function_call':
      return { name: item.name, body: item.arguments };
    case 'mcp_call':
      return {
        name: item.name,
        body: [item.arguments, item.output ?? item.error].filter(Boolean).join('\n\n'),
      };
    default:
      return undefined;
  }
}
