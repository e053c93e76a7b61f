import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';
import {
  collapseWhitespace,
  tidyLines,
  type BlockKind,
  type DocumentBlock,
  type ParsedDocument,
} from './parsed-document.js';
import { documentDate } from './document-date.js';
import { textTableBlocks } from './tables/table-rows.js';
import { readHtml } from './read-html.js';

type MarkdownRoot = ReturnType<typeof fromMarkdown>;
type MarkdownNode = MarkdownRoot | MarkdownRoot['children'][number];

const frontMatter = /^\uFEFF?---[^\S\n]*\n([^]*?)\n(?:---|\.\.\.)[^\S\n]*(?:\n|$)/;

/** Limit for nested quotes and lists on one line. The time of the parser grows with the square of their number. */
const deepestNesting = 100;
const nestedMarkers = new RegExp(
  `^(?:[^\\S\\n]*(?:>|[-*+](?=\\s)|\\d{1,9}[.)](?=\\s))){${deepestNesting + 1}}`,
  'm',
);

/** Reads Markdown with the extensions of GitHub (tables, task lists, footnotes). Embedded HTML is read as HTML. */
export function readMarkdown(source: string): ParsedDocument {
  const text = source.replaceAll(/\r\n?/g, '\n');
  if (nestedMarkers.test(text)) throw new RangeError('too deep');
  const matter = frontMatter.exec(text);
  const root = fromMarkdown(withoutTemplates(matter ? text.slice(matter[0].length) : text), {
    extensions: [gfm()],
    mdastExtensions: [gfmFromMarkdown()],
  });
  const blocks = blocksOf(root, 'paragraph');
  const fields = fieldsOf(matter?.[1]);
  const title =
    fields.find(([name]) => name === 'title')?.[1] ?? blocks.find((block) => block.level === 1)?.text;
  const date = documentDate(fields);
  return { ...(title && { title }), ...(date && { date }), blocks };
}

/**
 * Text in fences and in backticks, which stays; and the marks that generators of sites replace: `{{< figure >}}`,
 * `{% tag %}`, `:::note`.
 */
const templates =
  /(^[^\S\n]*(`{3,}(?!`)|~{3,}(?!~))[^]*?\n[^\S\n]*\2|(?<!`)(`{1,2})(?!`)[^\n]{1,500}?(?<!`)\3(?!`))|\{\{[<%][^]{0,200}?[>%]\}\}|\{%[^]{0,200}?%\}|^:{3,}[^\n]*$/gm;
/** Ids and classes at the end of a heading: `## Install {#install}`. */
const attributes = /\s*\{[#.:][^{}]{1,100}\}$/;

/** Removes the marks of site generators, which readers of a site do not see. */
function withoutTemplates(text: string): string {
  return text.replaceAll(templates, (_found, code?: string) => code ?? '');
}

/** The fields of front matter with a text on one line, their names in lower case. */
function fieldsOf(matter = ''): [name: string, value: string][] {
  const lines = matter.matchAll(/^([\w-]+):[^\S\n]*(["']?)(.+)\2[^\S\n]*$/gm);
  return [...lines].map(([, name = '', , value = '']) => [name.toLowerCase(), value]);
}

/** Blocks of a node. `kind` is the kind of its paragraphs: `list-item` within a list. */
function blocksOf(node: MarkdownNode, kind: BlockKind): DocumentBlock[] {
  switch (node.type) {
    case 'heading':
      return [{ kind: 'heading', level: node.depth, text: inlineText(node).replace(attributes, '') }];
    case 'paragraph':
      return [{ kind, text: inlineText(node) }];
    case 'code':
      return [{ kind: 'code', text: tidyLines(node.value) }];
    case 'table':
      return textTableBlocks(
        node.children.map((row) => row.children.map(inlineText)),
        { headerRows: 1 },
      );
    case 'html':
      return readHtml(node.value).blocks;
    case 'listItem':
      return node.children.flatMap((child) => blocksOf(child, 'list-item'));
    default:
      return 'children' in node ? node.children.flatMap((child) => blocksOf(child, kind)) : [];
  }
}

function inlineText(node: MarkdownNode): string {
  return collapseWhitespace(rawInlineText(node));
}

function rawInlineText(node: MarkdownNode): string {
  if (node.type === 'break' || node.type === 'html') return ' ';
  if (node.type === 'image' || node.type === 'imageReference') return node.alt ?? '';
  if ('value' in node) return node.value;
  return 'children' in node ? node.children.map((child) => rawInlineText(child)).join('') : '';
}
