import { load } from 'cheerio';
import { documentDate } from './document-date.js';
import { applyRevisions } from './html/html-revisions.js';
import { LinkTargets } from './html/link-targets.js';
import {
  collapseWhitespace,
  tidyLines,
  type BlockKind,
  type DocumentBlock,
  type ParsedDocument,
  type ReadingOptions,
  type ReadingWarning,
} from './parsed-document.js';
import type { TableCell } from './tables/table-grid.js';
import { tableBlocks } from './tables/table-rows.js';

type CheerioDocument = ReturnType<typeof load>;
type HtmlNode = ReturnType<CheerioDocument>['0'] | NonNullable<ReturnType<CheerioDocument>['0']>['parent'];

/** The DOM's `Node.TEXT_NODE`. */
const textNode = 3;
const headingTag = /^h[1-6]$/;

/** Elements that are not content of the page: code, controls, hidden parts and navigation. */
const dropped = [
  'script, style, template, svg, canvas, iframe, object, nav, menu, dialog',
  'form button, select, input, textarea, [aria-hidden="true"], [role="navigation"]',
].join(', ');

const blockTags = new Set(
  (
    'address article aside blockquote body center dd details dialog div dl dt fieldset figcaption figure footer ' +
    'form header hgroup hr html legend li main ol p section summary tbody tfoot thead tr td th ul'
  ).split(' '),
);

/** What a page says to browsers without scripts. */
const scriptNotice = /\b(?:java)?script|\bbrowser\b/i;
/** The parts of a page with its own content. */
const mainParts = 'main, [role="main"], article';

/** Reads HTML like a browser without scripts: the main parts of the page, without navigation. */
export function readHtml(source: string, { keepRevisions = false }: ReadingOptions = {}): ParsedDocument {
  const $ = load(source, { scriptingEnabled: false });
  const title = collapseWhitespace($('head > title').first().text());
  const date = documentDate(fieldsOf($));
  const revised = applyRevisions($, keepRevisions);
  $(dropped).remove();
  for (const element of $('noscript').toArray())
    if (scriptNotice.test($(element).text())) $(element).remove();
  const roots = mainPartsOf($);
  const targets = $('a[href]')
    .toArray()
    .map(({ attribs }) => attribs['href'] ?? '');
  const links = new LinkTargets(
    targets,
    targets.length > 0 ? roots.map((root) => $(root).text()).join(' ') : '',
  );
  const blocks = roots.flatMap((root) => new BlockCollector($, links).collect(root));
  const heading = blocks.find((block) => block.level === 1)?.text;
  return {
    ...((title || heading) && { title: title || heading }),
    ...(date && { date }),
    blocks,
    ...(revised > 0 && !keepRevisions && { warnings: [leftOut(revised)] }),
  };
}

const leftOut = (count: number): ReadingWarning => ({
  code: 'hidden_part',
  message: `${count} struck-out or hidden parts were left out.`,
});

/** The main parts of a page in order, with the articles outside of them; the whole page if it has none with text. */
function mainPartsOf($: CheerioDocument): NonNullable<HtmlNode>[] {
  const hasMain = $('main, [role="main"]')
    .toArray()
    .some((main) => $(main).text().trim() !== '');
  if (!hasMain) return $('body').toArray();
  return $(mainParts)
    .toArray()
    .filter((part) => $(part).parents(`${mainParts}, aside, footer`).length === 0);
}

/** What a page says about itself in `meta`. */
function fieldsOf($: CheerioDocument): [name: string, value: string][] {
  return $('meta[content]')
    .toArray()
    .map(({ attribs: { name, property, itemprop, content = '' } }) => [
      name ?? property ?? itemprop ?? '',
      content,
    ]);
}

/** Limit for the depth of a page: the walk is recursive. */
const deepest = 1_000;

/**
 * Finds the tables that contain tables or headings: they serve the layout. One walk finds them all, because a search in
 * each table would visit its subtree again.
 */
function findLayoutTables(root: HtmlNode): Set<HtmlNode> {
  const found = new Set<HtmlNode>();
  const waiting: { node: HtmlNode; table: HtmlNode; depth: number }[] = [
    { node: root, table: null, depth: 0 },
  ];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { node, table, depth } = next;
    if (depth > deepest) throw new RangeError('too deep');
    const name = node && 'name' in node ? node.name : '';
    const isTable = name === 'table';
    if (table && (isTable || headingTag.test(name))) found.add(table);
    if (!node || !('children' in node)) continue;
    for (const child of node.children)
      waiting.push({ node: child, table: isTable ? node : table, depth: depth + 1 });
  }
  return found;
}

/** Rows at the top of a table that may be headers by their style. */
const maxStyledRows = 5;

/** Elements that are read as a whole. A link around blocks is read block by block. */
const inlineTags = new Set(['br', 'img']);

const attributesOf = (node: NonNullable<HtmlNode>): Record<string, string> =>
  'attribs' in node ? node.attribs : {};

/** The text that stands for a picture; names of files and empty texts of decorations do not. */
function descriptionOf(node: NonNullable<HtmlNode>): string {
  const { alt = '', role = '' } = attributesOf(node);
  const isText =
    /\p{L}/u.test(alt) && role !== 'presentation' && !/\.(?:png|jpe?g|gif|svg|webp|avif)$/i.test(alt);
  return isText ? ` ${alt} ` : '';
}

/** Walks the tree, and collects inline text until a block begins or ends. */
class BlockCollector {
  private readonly blocks: DocumentBlock[] = [];
  private pending = '';
  private layoutTables: ReadonlySet<HtmlNode> = new Set();

  constructor(
    private readonly $: CheerioDocument,
    private readonly links: LinkTargets,
  ) {}

  collect(root: HtmlNode | undefined): DocumentBlock[] {
    if (root) {
      this.layoutTables = findLayoutTables(root);
      this.visit(root, 'paragraph');
    }
    this.flush('paragraph');
    return this.blocks;
  }

  private visit(node: HtmlNode, kind: BlockKind): void {
    if (!node) return;
    if ('data' in node && node.nodeType === textNode) this.pending += node.data;
    else if ('name' in node) this.visitElement(node.name, node, kind);
    else if ('children' in node) this.visitChildren(node, kind);
  }

  private visitElement(name: string, node: NonNullable<HtmlNode>, kind: BlockKind): void {
    if (headingTag.test(name))
      this.add({ kind: 'heading', level: Number(name[1]), text: this.textOf(node) }, kind);
    else if (name === 'pre') this.add({ kind: 'code', text: tidyLines(this.$(node).text()) }, kind);
    else if (name === 'table') this.addTable(node, kind);
    else if (inlineTags.has(name)) this.pending += this.rawText(node);
    else if (name === 'a' && !this.hasBlocks(node)) this.pending += this.rawText(node);
    else if (blockTags.has(name)) this.visitBlock(name, node, kind);
    else this.visitChildren(node, kind);
  }

  private visitBlock(name: string, node: NonNullable<HtmlNode>, kind: BlockKind): void {
    this.flush(kind);
    const inner = name === 'li' || name === 'dd' || name === 'dt' ? 'list-item' : kind;
    this.visitChildren(node, inner);
    this.flush(inner);
  }

  private hasBlocks(node: NonNullable<HtmlNode>): boolean {
    return this.$(node)
      .find('*')
      .toArray()
      .some(({ name }) => blockTags.has(name) || headingTag.test(name) || name === 'table' || name === 'pre');
  }

  private visitChildren(node: NonNullable<HtmlNode>, kind: BlockKind): void {
    if ('children' in node) for (const child of node.children) this.visit(child, kind);
  }

  /** Adds the rows of a table. The cells of a layout table are read as text. */
  private addTable(table: NonNullable<HtmlNode>, kind: BlockKind): void {
    this.flush(kind);
    if (this.layoutTables.has(table)) {
      for (const child of 'children' in table ? table.children : []) this.visit(child, kind);
      return this.flush(kind);
    }
    const $table = this.$(table);
    const caption = this.textOf($table.children('caption')[0]);
    if (caption) this.blocks.push({ kind: 'caption', text: caption });
    const headerRows = $table.children('thead').children('tr').length;
    const rows = $table.find('tr').toArray();
    this.blocks.push(...tableBlocks({ rows: rows.map((row, at) => this.cellsOf(row, at)), headerRows }));
  }

  private cellsOf(row: NonNullable<HtmlNode>, at: number): TableCell[] {
    const cells = this.$(row).children('td, th').toArray();
    const texts = cells.map((cell) => this.textOf(cell));
    const scopes = cells.map(({ attribs }) => attribs['scope'] ?? '');
    const namesColumns =
      scopes.some((scope) => scope.startsWith('col')) ||
      (!scopes.some((scope) => scope.startsWith('row')) &&
        cells.every(({ name }, column) => name === 'th' || (column === 0 && texts[column] === '')));
    return cells.map((cell, column) => {
      const text = texts[column]!;
      return {
        text,
        columns: Number(cell.attribs['colspan'] ?? 1),
        rows: Number(cell.attribs['rowspan'] ?? 1),
        ...((namesColumns || cell.name === 'th') && { names: namesColumns ? 'columns' : 'row' }),
        ...(at < maxStyledRows && this.isBold(cell, text) && { isBold: true }),
      };
    });
  }

  /** Whether a cell is bold as a whole. */
  private isBold(cell: NonNullable<HtmlNode>, text: string): boolean {
    const bold = this.$(cell).find('b, strong').toArray();
    return bold.length > 0 && text !== '' && bold.map((node) => this.textOf(node)).join(' ') === text;
  }

  private textOf(node: HtmlNode | undefined): string {
    return node ? collapseWhitespace(this.rawText(node)) : '';
  }

  /** The text of a node with spaces around blocks, descriptions of pictures, and targets of links. */
  private rawText(node: NonNullable<HtmlNode>): string {
    if ('data' in node) return node.nodeType === textNode ? node.data : '';
    const name = 'name' in node ? node.name : '';
    if (name === 'br') return ' ';
    if (name === 'img') return descriptionOf(node);
    const text = 'children' in node ? node.children.map((child) => this.rawText(child)).join('') : '';
    if (name === 'a') return this.links.shown(text, attributesOf(node)['href']);
    return blockTags.has(name) ? ` ${text} ` : text;
  }

  private add(block: DocumentBlock, kind: BlockKind): void {
    this.flush(kind);
    if (block.text) this.blocks.push(block);
  }

  private flush(kind: BlockKind): void {
    const text = collapseWhitespace(this.pending);
    this.pending = '';
    if (text) this.blocks.push({ kind, text });
  }
}
