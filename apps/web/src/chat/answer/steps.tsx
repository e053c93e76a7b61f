import { Code } from '@mantine/core';
import type { ReactElement } from 'react';
import { useText } from '../../i18n/text';
import type { OutputItem } from '../turns';

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
    case 'custom_tool_call':
      return { name: item.name, body: item.input };
    case 'mcp_call':
    case 'mcp_approval_request': {
      const { output, error } = { output: null, error: null, ...item };
      // The types say that an error is a text; servers send an object too.
      const outcome = output ?? (error && (typeof error === 'string' ? error : JSON.stringify(error)));
      return { name: item.name, body: [item.arguments, outcome].filter(Boolean).join('\n\n') };
    }
    default:
      return undefined;
  }
}
