import { parse } from 'yaml';

/** The fields of a text between marks at its beginning, by their names in lower case, and the text after them. */
export interface FrontMatter {
  fields: [name: string, value: string][];
  text: string;
}

const yamlMatter = /^\uFEFF?---[^\S\n]*\n([^]*?)\n(?:---|\.\.\.)[^\S\n]*(?:\n|$)/;
const tomlMatter = /^\uFEFF?\+\+\+[^\S\n]*\n([^]*?)\n\+\+\+[^\S\n]*(?:\n|$)/;
const tomlLine = /^\s*([\w-]+|"[^"]*")\s*=\s*(.+?)\s*$/gm;
/** Fields for the program that makes a site of the text. */
const technical =
  /^(?:title|layout|slug|permalink|url|aliases|weight|template|type|id|draft|published|toc|nav_order|parent|sidebar.*|css|js|image|cover|cssclass(?:es)?|output|format|jupyter|kernelspec|bibliography|linktitle|menu|math|comments|hide_.*|pagination.*)$/;

/** Splits the front matter in YAML or TOML from a text with `\n` at its line ends. */
export function splitFrontMatter(source: string): FrontMatter {
  const yaml = yamlMatter.exec(source);
  if (yaml) return { fields: yamlFields(yaml[1]!), text: source.slice(yaml[0].length) };
  const toml = tomlMatter.exec(source);
  if (toml) return { fields: tomlFields(toml[1]!), text: source.slice(toml[0].length) };
  return { fields: [], text: source };
}

/** What front matter says about the document: `author: Ada; tags: boats, winter`. Empty if it says nothing. */
export function frontMatterText(fields: FrontMatter['fields']): string {
  return fields
    .filter(([name, value]) => value !== '' && !technical.test(name))
    .map(([name, value]) => `${name}: ${value}`)
    .join('; ');
}

function yamlFields(matter: string): FrontMatter['fields'] {
  try {
    const value: unknown = parse(matter, { schema: 'failsafe', maxAliasCount: 10, logLevel: 'error' });
    if (typeof value !== 'object' || value === null) return [];
    return Object.entries(value).map(([name, field]) => [name.toLowerCase(), textOf(field)]);
  } catch {
    // Generators of sites are more tolerant than the grammar.
    const lines = matter.matchAll(/^([\w-]+):[^\S\n]*(["']?)(.+)\2[^\S\n]*$/gm);
    return [...lines].map(([, name = '', , value = '']) => [name.toLowerCase(), value]);
  }
}

function tomlFields(matter: string): FrontMatter['fields'] {
  return [...matter.matchAll(tomlLine)].map(([, name = '', value = '']) => [
    name.replaceAll('"', '').toLowerCase(),
    value
      .replace(/^\[(.*)\]$/, '$1')
      .replaceAll(
        /"((?:[^"\\]|\\.)*)"|'([^']*)'/g,
        (_found, double?: string, single?: string) => double ?? single ?? '',
      )
      .trim(),
  ]);
}

function textOf(value: unknown): string {
  if (Array.isArray(value))
    return value
      .map((item) => textOf(item))
      .filter(Boolean)
      .join(', ');
  if (typeof value === 'object' && value !== null)
    return Object.entries(value)
      .map(([name, field]) => `${name} ${textOf(field)}`)
      .join(', ');
  return typeof value === 'string' ? value.replaceAll(/\s+/g, ' ').trim() : '';
}
