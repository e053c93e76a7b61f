import { useClipboard } from '@mantine/hooks';
import { useRef, type ReactElement, type ReactNode } from 'react';
import { IconButton } from '../../shared/icon-button';
import { IconCheck, IconCopy } from '../../shared/icons';
import { useText } from '../../i18n/text';

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
