import {
  attributeOf,
  childOf,
  elementsOf,
  nameOf,
  textWithin,
  valueOf,
  type XmlElement,
} from '../archives/xml-nodes.js';

const superscripts = new Map(
  Array.from('0123456789+-=()ni').map((letter, at) => [letter, Array.from('⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱ')[at]!]),
);

/** An equation of Office as a line of text: `a/b`, `√(x)`, `x²`, `∑_(i=1)^n i`. */
export function mathText(element: XmlElement): string {
  const of = (name: string) => textOf(childOf(element, name));
  switch (nameOf(element)) {
    case 't':
      return textWithin(element);
    case 'f':
      return `${grouped(of('num'))}/${grouped(of('den'))}`;
    case 'rad':
      return of('deg') === '' ? `√${grouped(of('e'))}` : `${of('deg')}√${grouped(of('e'))}`;
    case 'sSup':
      return `${grouped(of('e'))}${raised(of('sup'))}`;
    case 'sSub':
      return `${of('e')}_${grouped(of('sub'))}`;
    case 'sSubSup':
      return `${of('e')}_${grouped(of('sub'))}${raised(of('sup'))}`;
    case 'nary':
      return naryText(element);
    case 'd':
      return delimited(element);
    case 'm':
    case 'eqArr':
      return elementsOf(element)
        .map((row) => textOf(row))
        .filter(Boolean)
        .join('; ');
    case 'mr':
      return elementsOf(element)
        .map((cell) => textOf(cell))
        .join(', ');
    case 'func':
      return `${of('fName')} ${of('e')}`;
    case 'acc':
    case 'bar':
      return of('e');
    default:
      return nameOf(element).endsWith('Pr') ? '' : textOf(element);
  }
}

function textOf(element: XmlElement | undefined): string {
  return elementsOf(element)
    .map((child) => mathText(child))
    .join('');
}

function naryText(element: XmlElement): string {
  const sign = valueOf(element, 'naryPr', 'chr') ?? '∫';
  const [from, to] = [textOf(childOf(element, 'sub')), textOf(childOf(element, 'sup'))];
  return `${sign}${from && `_${grouped(from)}`}${to && `^${grouped(to)}`} ${textOf(childOf(element, 'e'))}`;
}

function delimited(element: XmlElement): string {
  const mark = (name: string, usual: string) => attributeOf(childOf(element, 'dPr', name), 'val') ?? usual;
  const parts = elementsOf(element)
    .filter((child) => nameOf(child) === 'e')
    .map((child) => textOf(child));
  return mark('begChr', '(') + parts.join(mark('sepChr', '|')) + mark('endChr', ')');
}

/** Puts parentheses around a text of several signs. */
function grouped(text: string): string {
  return /^(?:[\p{L}\p{N}.,]*|\(.*\))$/u.test(text) ? text : `(${text})`;
}

function raised(text: string): string {
  const letters = Array.from(text).map((letter) => superscripts.get(letter));
  return letters.length > 0 && letters.every((letter) => letter !== undefined)
    ? letters.join('')
    : `^${grouped(text)}`;
}
