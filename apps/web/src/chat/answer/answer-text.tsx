import { HoverCard, Text } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import type * as Hast from 'hast';
import {
  createContext,
  memo,
  useContext,
  useMemo,
  useRef,
  useEffect,
  useState,
  type ReactElement,
  type ReactNode,
} from 'react';
import Markdown, { type Components, type Options } from 'react-markdown';
import rehypeSanitize, { defaultSchema } from 'rehype-sanitize';
import remarkGfm from 'remark-gfm';
import { MarkedText, type Opened } from '../../documents/document-view';
import { citedSentence, findQuote } from '../../documents/quote';
import { useText } from '../../i18n/text';
import { IconButton } from '../../shared/components';
import { IconCheck, IconCopy } from '../../shared/icons';
import { placeAt, type CitedPlace, type Passage } from '../turns';

/** Images are removed, because they would load from other hosts. Links may use http, https and mailto only. */
const schema: typeof defaultSchema = {
  ...defaultSchema,
  tagNames: (defaultSchema.tagNames ?? []).filter(
    (name) => name !== 'img' && name !== 'picture' && name !== 'source',
  ),
  protocols: { href: ['http', 'https', 'mailto'] },
};

interface AnswerProps {
  answer: string;
  passages: readonly Passage[];
  places: readonly CitedPlace[];
  writing: boolean;
  open: (opened: Opened) => void;
}

/** Context for the citations of an answer. */
const Cited = createContext<Pick<AnswerProps, 'answer' | 'passages' | 'places' | 'open'> | undefined>(
  undefined,
);

/** Shows an answer as Markdown with its citations as chips. */
export const AnswerText = memo(function AnswerText({
  answer,
  passages,
  places,
  writing,
  open,
}: AnswerProps): ReactElement {
  const cited = useMemo(() => ({ answer, passages, places, open }), [answer, passages, places, open]);
  const highlight = useHighlighter(hasCode(answer));
  return (
    <Cited value={cited}>
      <div className={writing ? 'answer cursor' : 'answer'}>
        <Markdown
          remarkPlugins={[remarkGfm, plainHtml]}
          rehypePlugins={[[rehypeSanitize, schema], ...highlight, markCitations(passages.length)]}
          components={components}
        >
          {answer}
        </Markdown>
      </div>
    </Cited>
  );
});

const OutsideLink: Components['a'] = ({ href, children }) =>
  href ? (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  ) : (
    <span>{children}</span>
  );

function CiteMark({ number, at }: { number: string; at: string }): ReactElement | null {
  const { answer, passages, places = [], open } = useContext(Cited) ?? {};
  const found = passages?.[Number(number) - 1];
  if (!found || !answer || !open) return null;
  const place = placeAt(places, found.documentId, Number(at));
  const { page = found.page, pageLabel, time = found.time } = place ?? {};
  const passage = {
    ...found,
    ...(page !== undefined && { page }),
    ...(pageLabel !== undefined && { pageLabel }),
    ...(time !== undefined && { time }),
  };
  const sentence = place?.quote || citedSentence(answer, Number(at));
  return <Chip number={number} passage={passage} sentence={sentence} open={open} />;
}

/** Components that replace HTML elements. */
const components = { a: OutsideLink, pre: CodeBlock, 'cite-mark': CiteMark } as Components;

interface ChipProps {
  number: string;
  passage: Passage;
  sentence: string;
  open: (opened: Opened) => void;
}

/** A citation. A hover shows the quoted sentence, a click opens the document. */
function Chip({ number, passage, sentence, open }: ChipProps): ReactElement {
  const t = useText();
  const { filename, pageLabel, page, time, heading, text } = passage;
  const shownPage = pageLabel ?? page;
  const quote = findQuote(text, sentence);
  const place = [filename, shownPage === undefined ? '' : t('page', { page: shownPage }), time]
    .filter(Boolean)
    .join(', ');
  const label = t('citation', { number, name: place });
  const show = () => open({ ...passage, quote: quote && text.slice(quote.start, quote.end) });
  return (
    <HoverCard width={380} shadow="md" openDelay={120} withinPortal>
      <HoverCard.Target>
        <button type="button" className="chip" aria-label={label} onClick={show}>
          {shownPage === undefined ? number : `${number} · ${t('page', { page: shownPage })}`}
        </button>
      </HoverCard.Target>
      <HoverCard.Dropdown>
        <Text size="sm" fw={600}>
          {place}
        </Text>
        {heading && (
          <Text size="xs" c="dimmed">
            {heading}
          </Text>
        )}
        <Text size="sm" mt={6} className="passage quoted">
          <MarkedText text={quote ? text.slice(quote.start, quote.end) : text} mark={undefined} />
        </Text>
      </HoverCard.Dropdown>
    </HoverCard>
  );
}

/**
 * A rehype plugin that turns `[n]` into an element `cite-mark` with the number and, as `at`, its position in the
 * Markdown. Numbers without a passage stay text. It runs after the sanitizer: a model cannot write such an element.
 */
function markCitations(passages: number): () => (tree: Hast.Root) => void {
  return () => (tree) => visit(tree, passages);
}

const unread = new Set(['code', 'pre', 'a']);

function visit(parent: Hast.Root | Hast.Element, passages: number): void {
  parent.children = parent.children.flatMap((child): Hast.ElementContent[] => {
    if (child.type === 'text') return split(child, passages);
    if (child.type === 'element' && !unread.has(child.tagName)) visit(child, passages);
    return [child as Hast.ElementContent];
  });
}

function split({ value, position }: Hast.Text, passages: number): Hast.ElementContent[] {
  let at = position?.start.offset ?? 0;
  return value.split(/(\[\d{1,3}\])/).map((piece): Hast.ElementContent => {
    const start = at;
    at += piece.length;
    const number = Number(/^\[(\d{1,3})\]$/.exec(piece)?.[1] ?? 0);
    if (number < 1 || number > passages) return { type: 'text', value: piece };
    return {
      type: 'element',
      tagName: 'cite-mark',
      properties: { number: String(number), at: String(start) },
      children: [],
    };
  });
}

/** The part of the processor that a remark plugin uses. */
interface Processor {
  data(): { micromarkExtensions?: { disable?: { null: string[] } }[] };
}

/**
 * A remark plugin that reads HTML as text: an answer may quote `npm run ingest -- <folder>`, and the sanitizer would
 * remove the last word.
 */
function plainHtml(this: unknown): void {
  const data = (this as Processor).data();
  (data.micromarkExtensions ??= []).push({ disable: { null: ['htmlFlow', 'htmlText'] } });
}

/** A code block with a button that copies it. */
function CodeBlock({ children }: { children?: ReactNode }): ReactElement {
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

/** The loaded plugins. Answers without code do not load them. */
let loaded: Plugins | undefined;

/** Whether an answer has a code block with a language. */
function hasCode(answer: string): boolean {
  return /^\s*(```|~~~)\s*\w/m.test(answer);
}

/**
 * Plugins for syntax highlighting, empty until they are loaded. They only change colors, so that the layout is stable.
 */
function useHighlighter(wanted: boolean): Plugins {
  const [plugins, setPlugins] = useState(loaded);
  useEffect(() => {
    if (!wanted || plugins) return undefined;
    let gone = false;
    const load = async () => {
      const { highlightCode } = await import('./highlight-code');
      loaded = highlightCode;
      if (!gone) setPlugins(highlightCode);
    };
    // Without the plugins the code is shown without colors.
    void load().catch(() => undefined);
    return () => {
      gone = true;
    };
  }, [wanted, plugins]);
  return plugins ?? none;
}
