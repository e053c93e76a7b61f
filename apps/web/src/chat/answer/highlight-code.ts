import './highlight-code.css';
import type { Options } from 'react-markdown';
import rehypeHighlight from 'rehype-highlight';

/** Highlights code blocks with a language. */
export const highlightCode: NonNullable<Options['rehypePlugins']> = [[rehypeHighlight, { detect: false }]];
