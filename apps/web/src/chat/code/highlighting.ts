import { useEffect, useState } from 'react';
import type { Options } from 'react-markdown';

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
