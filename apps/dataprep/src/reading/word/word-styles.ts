import type { XmlDocument } from '../archives/archive.js';
import {
  attributeOf,
  childOf,
  elementsOf,
  isOn,
  nameOf,
  valueOf,
  type XmlElement,
} from '../archives/xml-nodes.js';

/** What a style says about its text. */
export interface WordStyle {
  /** Depth as a heading, from 1. */
  level?: number;
  list?: string;
  listLevel?: number;
  isStruck?: boolean;
  isHidden?: boolean;
  isBold?: boolean;
}

/** The styles of a document by their ids, each with what it inherits. */
export function wordStyles($: XmlDocument | undefined): ReadonlyMap<string, WordStyle> {
  const elements = elementsOf(elementsOf($?.root()[0])[0]).filter((element) => nameOf(element) === 'style');
  const byId = new Map(elements.map((element) => [attributeOf(element, 'styleId') ?? '', element]));
  const styles = new Map<string, WordStyle>();
  const read = (id: string, depth: number): WordStyle => {
    const known = styles.get(id);
    const element = byId.get(id);
    if (known || !element || depth > 20) return known ?? {};
    const style = { ...read(valueOf(element, 'basedOn') ?? '', depth + 1), ...ownStyle(element) };
    styles.set(id, style);
    return style;
  };
  for (const id of byId.keys()) read(id, 0);
  return styles;
}

function ownStyle(element: XmlElement): WordStyle {
  const name = (valueOf(element, 'name') ?? '').toLowerCase();
  const heading = /^heading (\d)$/.exec(name)?.[1];
  const level =
    heading === undefined ? (name === 'title' ? 1 : outlineLevel(childOf(element, 'pPr'))) : Number(heading);
  const [list, listLevel] = listOf(childOf(element, 'pPr'));
  return {
    ...(level !== undefined && { level }),
    ...(list !== undefined && { list }),
    ...(listLevel !== undefined && { listLevel }),
    ...looksOf(childOf(element, 'rPr')),
  };
}

/** The heading level that the properties of a paragraph name; undefined for body text. */
export function outlineLevel(properties: XmlElement | undefined): number | undefined {
  const level = Number(valueOf(properties, 'outlineLvl') ?? 9);
  return level < 9 ? level + 1 : undefined;
}

/** The list and the level within it that the properties of a paragraph name. */
export function listOf(
  properties: XmlElement | undefined,
): [list: string | undefined, level: number | undefined] {
  const numbering = childOf(properties, 'numPr');
  const level = valueOf(numbering, 'ilvl');
  return [valueOf(numbering, 'numId'), level === undefined ? undefined : Number(level)];
}

/** What the properties of a run say about its text. */
export function looksOf(properties: XmlElement | undefined): WordStyle {
  if (!properties) return {};
  const isStruck = isOn(properties, 'strike') ?? isOn(properties, 'dstrike');
  const [isHidden, isBold] = [isOn(properties, 'vanish'), isOn(properties, 'b')];
  return {
    ...(isStruck !== undefined && { isStruck }),
    ...(isHidden !== undefined && { isHidden }),
    ...(isBold !== undefined && { isBold }),
  };
}
