import { revisedText } from '../revisions.js';

/** What the text of a piece of AsciiDoc depends on. Its notes are added to `notes`. */
export interface AdocContext {
  attributes: ReadonlyMap<string, string>;
  notes: string[];
  keepsRevisions: boolean;
}

const symbols: ReadonlyMap<string, string> = new Map([
  ['nbsp', ' '],
  ['sp', ' '],
  ['empty', ''],
  ['plus', '+'],
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['vbar', '|'],
  ['startsb', '['],
  ['endsb', ']'],
  ['asterisk', '*'],
  ['caret', '^'],
  ['deg', '°'],
]);

const maxReplacements = 5;
const maxExpandedCharacters = 100_000;

/** Puts the values of attributes in: `{version}`. An unknown attribute stays. */
function withAttributes(markup: string, attributes: AdocContext['attributes']): string {
  let text = markup;
  // A value may contain other attributes; texts that double themselves are not followed.
  for (let round = 0; round < maxReplacements && text.length < maxExpandedCharacters; round += 1) {
    const next = text.replaceAll(
      /\{([\w-]+)\}/g,
      (all, name: string) => attributes.get(name.toLowerCase()) ?? symbols.get(name) ?? all,
    );
    if (next === text) break;
    text = next;
  }
  return text.slice(0, Math.max(markup.length, maxExpandedCharacters));
}

const formatted =
  /(^|[^\p{L}\p{N}\\])(?:\[([^\]\n]{0,400})\])?([*_`#])(?=\S)([^\n]{0,400}?\S)\3(?![\p{L}\p{N}])/gu;
const doubled = /(?:\[([^\]\n]{0,400})\])?(\*\*|__|``|##|\+\+)(?=\S)([^\n]{1,400}?)\2/g;

/** The text of a piece of AsciiDoc, as its readers see it. */
export function adocText(markup: string, context: AdocContext): string {
  const styled = (text: string, style = ''): string =>
    /line-through/.test(style) ? revisedText(text, 'struck', context.keepsRevisions) : text;
  const note = (_all: string, text: string) => {
    context.notes.push(text);
    return '';
  };
  const text = withAttributes(markup, context.attributes)
    .replaceAll(/[ \t]\+[ \t]*$/gm, ' ')
    .replaceAll(/\[\[[^\]\n]{0,400}\]\]|\(\(\([^)\n]{0,400}\)\)\)/g, '')
    .replaceAll(/\(\(([^()\n]{0,400})\)\)/g, '$1')
    .replaceAll(/footnote(?:ref)?:[\w-]*\[([^\]]{0,400})\]/g, note)
    .replaceAll(/<<[^,>\n]{0,400},\s*([^>\n]{0,400})>>/g, '$1')
    .replaceAll(/<<([^>\n]{0,400})>>/g, '$1')
    .replaceAll(/(?:image|icon):[^[\s:]{0,400}\[([^\],]{0,400})[^\]]{0,400}\]/g, '$1')
    .replaceAll(/(?:kbd|btn|menu|pass|stem|latexmath):[^[\s]{0,400}\[([^\]]{0,400})\]/g, '$1')
    .replaceAll(
      /xref:([^[\s]{0,400})\[([^\]]{0,400})\]/g,
      (_all, target: string, shown: string) => shown || target,
    )
    .replaceAll(
      /(?:link:)?((?:https?:\/\/|mailto:)[^[\s]*|(?<=link:)[^[\s]{0,400})\[([^\]]{0,400})\]/g,
      (_all, target: string, shown: string) => linkText(target, shown),
    );
  return text
    .replaceAll(doubled, (_all, style: string | undefined, _mark, inner: string) => styled(inner, style))
    .replaceAll(
      formatted,
      (_all, before: string, style: string | undefined, _mark, inner: string) =>
        before + styled(inner.replace(/^\+(.*)\+$/, '$1'), style),
    )
    .replaceAll(
      formatted,
      (_all, before: string, style: string | undefined, _mark, inner: string) =>
        before + styled(inner, style),
    )
    .replaceAll(/\^([^\s^]{1,40})\^|~([^\s~]{1,40})~/g, '$1$2')
    .replaceAll(/\\(?=[*_`#{[^~])/g, '');
}

function linkText(target: string, attributes: string): string {
  const shown = attributes.replace(/,\s*\w+=.*$|\^$/g, '').replaceAll('"', '');
  const address = target.replace(/^mailto:/, '');
  if (shown === '') return address;
  return shown.includes(address) || !/^https?:|^mailto:/.test(target) ? shown : `${shown} (${address})`;
}
