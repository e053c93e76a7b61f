/** What the text of a piece of reStructuredText depends on. */
export interface RstNames {
  /** Values of substitutions: `|version|`. */
  substitutions: ReadonlyMap<string, string>;
  /** Addresses of named targets: `.. _page: https://a.org`. */
  targets: ReadonlyMap<string, string>;
}

const maxNameCharacters = 200;
const role = /:(?:[\w+-]+:)?([\w+-]+):`([^`\n]+(?:\n[^`\n]+)*)`/g;
const embedded = /^([^<]*?)\s*<([^<>]+)>$/;

/** Names are compared without case and with single spaces. */
export function rstName(name: string): string {
  return name.replaceAll('`', '').replaceAll(/\s+/g, ' ').trim().toLowerCase();
}

/** The text of a link, with its address if it has one for people. */
function linked(shown: string, target: string | undefined): string {
  return target !== undefined && /^(?:https?:|mailto:)/.test(target) && !shown.includes(target)
    ? `${shown} (${target.replace(/^mailto:/, '')})`
    : shown;
}

/** The text of a piece of reStructuredText, as its readers see it. */
export function rstText(markup: string, names: RstNames): string {
  const literals: string[] = [];
  const keep = (text: string) => `\ue000${literals.push(text) - 1}\ue000`;
  const reference = (name: string) => linked(name, names.targets.get(rstName(name)));
  return markup
    .replaceAll(/``([^`\n]+(?:\n[^`\n]+)*)``/g, (_all, text: string) => keep(text))
    .replaceAll(/\\([^\s\\])/g, (_all, character: string) => keep(character))
    .replaceAll(/\\\s/g, '')
    .replaceAll(role, (_all, name: string, text: string) => roleText(name, text))
    .replaceAll(/`([^`<]*?)\s*<([^`<>]+?)>`__?/g, (_all, text: string, target: string) =>
      linked(text || target, target.endsWith('_') ? names.targets.get(rstName(target.slice(0, -1))) : target),
    )
    .replaceAll(/`([^`]{1,500})`__?/g, (_all, name: string) => reference(name))
    .replaceAll(/ ?\[(?:#[\w-]*|\*|\d+)\]_/g, '')
    .replaceAll(/\[([\w.-]+)\]_(?![\p{L}\p{N}])/gu, '[$1]')
    .replaceAll(
      /\|([^|\s](?:[^|\n]{0,100}[^|\s])?)\|_{0,2}/g,
      (all, name: string) => names.substitutions.get(rstName(name)) ?? all,
    )
    .replaceAll(/_`([^`]+)`/g, '$1')
    .replaceAll(/`([^`]{1,500})`/g, '$1')
    .replaceAll(
      /(?<![\p{L}\p{N}_])([\p{L}\p{N}](?:[\p{L}\p{N}.+-]|_(?!_|\W)){0,200})__?(?![\p{L}\p{N}_])/gu,
      (all, name: string) =>
        name.length <= maxNameCharacters && names.targets.has(rstName(name)) ? reference(name) : all,
    )
    .replaceAll(/(?<![\p{L}\p{N}*])(\*\*|\*)(?=[^\s*])([^*]*[^\s*])\1(?![\p{L}\p{N}*])/gu, '$2')
    .replaceAll(/\ue000(\d+)\ue000/g, (_all, at: string) => literals[Number(at)] ?? '');
}

/** The text of a role: its label, or its target without a path before it for `~`. */
function roleText(name: string, text: string): string {
  const shown = embedded.exec(text)?.[1] ?? text;
  if (name === 'abbr' || name === 'kbd' || name === 'sub' || name === 'sup') return text;
  return shown.startsWith('~') ? shown.slice(1).split('.').at(-1)! : shown.replace(/^!/, '');
}
