import type { ReactElement } from 'react';
import type { Span } from './quote';

/** A text with a part of it highlighted. */
export function MarkedText({ text, mark }: { text: string; mark: Span | undefined }): ReactElement {
  if (!mark) return <>{text}</>;
  return (
    <>
      {text.slice(0, mark.start)}
      <mark>{text.slice(mark.start, mark.end)}</mark>
      {text.slice(mark.end)}
    </>
  );
}
