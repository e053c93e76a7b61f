import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';
import {
  collapseWhitespace,
  tidyLines,
  type BlockKind,
  type DocumentBlock,
  type ParsedDocument,
  type ReadingOptions,
} from './parsed-document.js';
import { documentDate } from './document-date.js';
import { frontMatterText, splitFrontMatter } from './html/front-matter.js';
import { LinkTargets } from './html/link-targets.js';
import { revisedText } from './revisions.js';
import { textTableBlocks } from './tables/table-rows.js';
import { readHtml } from './read-html.js';

type MarkdownRoot = ReturnType<typeof fromMarkdown>;
type MarkdownNode = MarkdownRoot | MarkdownRoot['children'][number];

/** Limit for nested quotes and lists on one line. The time of the parser grows with the square of their number. */
const maxNesting = 100;
const nestedMarkers = new RegExp(
  `^(?:[^\\S\\n]*(?:>|[-*+](?=\\s)|\\d{1,9}[.)](?=\\s))){${maxNesting + 1}}`,
  'm',
);

/** Reads Markdown with the extensions of GitHub (tables, task lists, footnotes). Embedded HTML is read as HTML. */
export function readMarkdown(source: string, { keepRevisions = false }: ReadingOptions = {}): ParsedDocument {
  const text = source.replaceAll(/\r\n?/g, '\n');
  if (nestedMarkers.test(text)) throw new RangeError('too deep');
  const { fields, text: body } = splitFrontMatter(text);
  const root = fromMarkdown(withoutTemplates(body), {
    extensions: [gfm()],
    mdastExtensions: [gfmFromMarkdown()],
  });
  const blocks = new MarkdownBlocks(body, keepRevisions).read(root);
  const facts = frontMatterText(fields);
  if (facts) blocks.unshift({ kind: 'paragraph', text: facts });
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

/** Tags of HTML within a paragraph that strike their text out, or end a line. */
const struckTag = /^<(\/?)(?:s|del|strike)(?:\s[^>]*)?>$/i;
const lineTag = /^<(?:br|hr|p|div|li|td|th)\b|^<!/i;

/** Reads the nodes of a parsed text. */
class MarkdownBlocks {
  readonly #targets = new Map<string, string>();
  #links: LinkTargets;

  constructor(
    private readonly source: string,
    private readonly keepsRevisions: boolean,
  ) {
    this.#links = new LinkTargets([], '');
  }

  read(root: MarkdownRoot): DocumentBlock[] {
    const targets: string[] = [];
    const visit = (node: MarkdownNode): void => {
      if (node.type === 'definition') this.#targets.set(node.identifier, node.url);
      if ('url' in node && node.type !== 'image') targets.push(node.url);
      if ('children' in node) for (const child of node.children) visit(child);
    };
    visit(root);
    this.#links = new LinkTargets(targets, this.source);
    return this.#blocks(root, 'paragraph');
  }

  /** Blocks of a node. `kind` is the kind of its paragraphs: `list-item` within a list. */
  #blocks(node: MarkdownNode, kind: BlockKind): DocumentBlock[] {
    switch (node.type) {
      case 'heading':
        return [{ kind: 'heading', level: node.depth, text: this.#inline(node).replace(attributes, '') }];
      case 'paragraph':
        return [{ kind, text: this.#inline(node) }];
      case 'code':
        return [{ kind: 'code', text: tidyLines(node.value) }];
      case 'table':
        return textTableBlocks(
          node.children.map((row) => row.children.map((cell) => this.#inline(cell))),
          { headerRows: 1 },
        );
      case 'html':
        return readHtml(node.value, { keepRevisions: this.keepsRevisions }).blocks;
      case 'listItem':
        return node.children.flatMap((child) => this.#blocks(child, 'list-item'));
      default:
        return 'children' in node ? node.children.flatMap((child) => this.#blocks(child, kind)) : [];
    }
  }

  #inline(node: MarkdownNode): string {
    return collapseWhitespace(this.#raw(node));
  }

  #raw(node: MarkdownNode): string {
    if (node.type === 'break') return ' ';
    if (node.type === 'html') return lineTag.test(node.value) ? ' ' : '';
    if (node.type === 'image' || node.type === 'imageReference') return node.alt ?? '';
    if ('value' in node) return node.value;
    if (!('children' in node)) return '';
    if (node.type === 'delete') return revisedText(this.#texts(node.children), 'struck', this.keepsRevisions);
    const text = this.#texts(node.children);
    if (node.type === 'link') return this.#links.shown(text, node.url);
    if (node.type === 'linkReference') return this.#links.shown(text, this.#targets.get(node.identifier));
    return text;
  }

  /** The texts of neighbors. HTML within a paragraph comes as single tags, with its text between them. */
  #texts(nodes: readonly MarkdownNode[]): string {
    let text = '';
    let struck: string | undefined;
    for (const node of nodes) {
      const [tag, end] = node.type === 'html' ? (struckTag.exec(node.value) ?? []) : [];
      if (tag !== undefined && end === '' && struck === undefined) struck = '';
      else if (tag !== undefined && end === '/' && struck !== undefined) {
        text += revisedText(struck, 'struck', this.keepsRevisions);
        struck = undefined;
      } else if (struck === undefined) text += this.#raw(node);
      else struck += this.#raw(node);
    }
    return text + (struck ?? '');
  }
}
