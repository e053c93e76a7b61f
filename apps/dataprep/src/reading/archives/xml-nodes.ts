import type { XmlDocument } from './archive.js';

/** A node of a parsed XML file. */
export type XmlNode = ReturnType<XmlDocument>['0'];
/** An element of a parsed XML file. */
export type XmlElement = Extract<XmlNode, { attribs: unknown }>;

/** The name of an element without its prefix, which programs choose. */
export function nameOf({ name }: XmlElement): string {
  return name.slice(name.indexOf(':') + 1);
}

/** The value of an attribute with any prefix. */
export function attributeOf(element: XmlElement | undefined, name: string): string | undefined {
  if (!element) return undefined;
  const { attribs } = element;
  if (attribs[`w:${name}`] !== undefined) return attribs[`w:${name}`];
  const key = Object.keys(attribs).find((each) => each.slice(each.indexOf(':') + 1) === name);
  return key === undefined ? undefined : attribs[key];
}

/** The elements within a node, in order. */
export function elementsOf(node: XmlNode | undefined): XmlElement[] {
  return node && 'children' in node
    ? node.children.filter((child): child is XmlElement => 'attribs' in child)
    : [];
}

/** The first element of this name within an element, along a path of names. */
export function childOf(element: XmlElement | undefined, ...path: string[]): XmlElement | undefined {
  return path.reduce<XmlElement | undefined>(
    (found, name) => elementsOf(found).find((child) => nameOf(child) === name),
    element,
  );
}

/** The value of a property: `<w:jc w:val="x"/>`. */
export function valueOf(element: XmlElement | undefined, ...path: string[]): string | undefined {
  return attributeOf(childOf(element, ...path), 'val');
}

/** Whether a property is on; undefined if it is absent. */
export function isOn(properties: XmlElement | undefined, name: string): boolean | undefined {
  const property = childOf(properties, name);
  return property && !/^(?:0|false|off|none)$/i.test(attributeOf(property, 'val') ?? '');
}

/** The text within a node. */
export function textWithin(node: XmlNode): string {
  if ('data' in node) return node.data;
  return 'children' in node ? node.children.map((child) => textWithin(child)).join('') : '';
}
