import './highlight-code.css';
import type { Options } from 'react-markdown';
import rehypeHighlight from 'rehype-highlight';

/** Colors blocks of code that name their language. */
export const highlightCode: NonNullable<Options['rehypePlugins']> = [[rehypeHighlight, { detect: false }]];
