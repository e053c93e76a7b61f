import { useClipboard } from '@mantine/hooks';
import { useRef, useEffect, useState, type ReactElement, type ReactNode } from 'react';
import type { Options } from 'react-markdown';
import { useText } from '../../i18n/text';
import { IconButton } from '../../shared/components';
import { IconCheck, IconCopy } from '../../shared/icons';

/** A block of code that can be copied. */
export function CodeBlock({ children }: { children?: ReactNode }): ReactElement {
  const t = useText();
  const block = useRef<HTMLPreElement>(null);
  const { copied, copy } = useClipboard();
  const label = copied ? t('copied') : t('copyCode');
  return (
    <div className="code-block">
      <pre ref={block} tabIndex={0}>
        {children}
      </pre>
      <IconButton
        className="code-copy"
        variant="default"
        size="sm"
        label={label}
        onClick={() => copy(block.current?.textContent ?? '')}
      >
        {copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
      </IconButton>
    </div>
  );
}

type Plugins = NonNullable<Options['rehypePlugins']>;

const none: Plugins = [];

/** The plugin, once it is loaded; answers without code never want it. */
let loaded: Plugins | undefined;

/** Whether an answer has a block of code that names its language. */
export function hasCode(answer: string): boolean {
  return /^\s*(```|~~~)\s*\w/m.test(answer);
}

/** The plugins that color code: none until their file has come. Colors alone change then, so that nothing moves. */
export function useHighlighter(wanted: boolean): Plugins {
  const [plugins, setPlugins] = useState(loaded);
  useEffect(() => {
    if (!wanted || plugins) return undefined;
    let gone = false;
    const load = async () => {
      const { highlightCode } = await import('./highlight-code');
      loaded = highlightCode;
      if (!gone) setPlugins(highlightCode);
    };
    // Code without colors can be read too.
    void load().catch(() => undefined);
    return () => {
      gone = true;
    };
  }, [wanted, plugins]);
  return plugins ?? none;
}
