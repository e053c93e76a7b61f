import type { load } from 'cheerio';
import { revisedText } from '../revisions.js';

type CheerioDocument = ReturnType<typeof load>;
type Element = Extract<ReturnType<CheerioDocument>['0'], { attribs: unknown }>;

/** The DOM's `Node.TEXT_NODE`. */
const textNode = 3;
const struckTags = 's, strike, del';
const struckStyle = /text-decoration(?:-line)?\s*:[^;}]*line-through/i;
const hiddenStyle =
  /display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|font-size\s*:\s*0(?![.\d]*[1-9])|opacity\s*:\s*0(?:\.0*)?\s*(?:;|}|!|$)/i;
/** Pages hide themselves until their scripts have run. */
const pageTags = new Set(['html', 'body']);
/** A rule of a style sheet, and the blocks for media that are not screens of this page. */
const rule = /([^{}]+)\{([^{}]*)\}/g;
const mediaBlock = /@[^{};]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}/g;
/** Selectors that do not depend on the state of an element. */
const plainSelector = /^[\w\s.#>[\]="*-]+$/;

/**
 * Applies the rule of revisions to a page: leaves struck-out and hidden elements out, or marks them. Returns the number of
 * such elements.
 */
export function applyRevisions($: CheerioDocument, keeps: boolean): number {
  const rules = rulesOf($);
  const styled = $('[style]').toArray();
  const hidden = new Set([
    ...$('[hidden]:not([hidden="until-found"])').toArray(),
    ...styled.filter(({ attribs }) => hiddenStyle.test(attribs['style'] ?? '')),
    ...select($, rules, hiddenStyle),
  ]);
  const struck = new Set([
    ...$(struckTags).toArray(),
    ...styled.filter(({ attribs }) => struckStyle.test(attribs['style'] ?? '')),
    ...select($, rules, struckStyle),
  ]);
  let count = 0;
  for (const element of hidden) {
    if (pageTags.has(element.name) || $(element).text().trim() === '') continue;
    count += 1;
    if (keeps) markTexts($, element);
    else $(element).replaceWith(' ');
  }
  for (const element of struck) {
    if (pageTags.has(element.name)) continue;
    count += 1;
    const text = $(element).text();
    if (keeps) $(element).prepend(' ~~').append('~~ ');
    else $(element).replaceWith(revisedText(text, 'struck'));
  }
  if (keeps) for (const element of $('ins').toArray()) $(element).prepend(' {++').append('++} ');
  return count;
}

/** Marks each text within an element, because a mark does not reach over blocks. */
function markTexts($: CheerioDocument, element: Element): void {
  for (const node of $(element).find('*').addBack().contents().toArray())
    if (node.nodeType === textNode && 'data' in node) node.data = revisedText(node.data, 'hidden', true);
}

interface StyleRule {
  selectors: string[];
  declarations: string;
}

function rulesOf($: CheerioDocument): StyleRule[] {
  return $('style')
    .toArray()
    .flatMap((style) => {
      const sheet = $(style)
        .text()
        .replaceAll(/\/\*[^]*?\*\//g, '')
        .replaceAll(mediaBlock, '');
      return [...sheet.matchAll(rule)].map(([, selectors = '', declarations = '']) => ({
        selectors: selectors.split(',').map((selector) => selector.trim()),
        declarations,
      }));
    })
    .filter(({ declarations }) => hiddenStyle.test(declarations) || struckStyle.test(declarations));
}

function select($: CheerioDocument, rules: readonly StyleRule[], pattern: RegExp) {
  const found = rules.filter(({ declarations }) => pattern.test(declarations));
  const selectors = found
    .flatMap((each) => each.selectors)
    .filter((selector) => plainSelector.test(selector));
  return selectors.flatMap((selector) => {
    try {
      return $<Element, string>(selector).toArray();
    } catch {
      return [];
    }
  });
}
