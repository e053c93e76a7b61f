/** Combining characters of the commands for accents. */
const accents: Readonly<Record<string, string>> = {
  '`': '\u0300',
  "'": '\u0301',
  '^': '\u0302',
  '~': '\u0303',
  '=': '\u0304',
  u: '\u0306',
  '.': '\u0307',
  '"': '\u0308',
  r: '\u030a',
  H: '\u030b',
  v: '\u030c',
  d: '\u0323',
  c: '\u0327',
  k: '\u0328',
};

/** Texts of commands without arguments. */
const symbols: Readonly<Record<string, string>> = {
  ss: 'ß',
  ae: 'æ',
  AE: 'Æ',
  oe: 'œ',
  OE: 'Œ',
  o: 'ø',
  O: 'Ø',
  aa: 'å',
  AA: 'Å',
  l: 'ł',
  L: 'Ł',
  i: 'ı',
  j: 'ȷ',
  dh: 'ð',
  th: 'þ',
  dj: 'đ',
  S: '§',
  P: '¶',
  copyright: '©',
  pounds: '£',
  euro: '€',
  EUR: '€',
  texteuro: '€',
  textregistered: '®',
  texttrademark: '™',
  textdegree: '°',
  degree: '°',
  dots: '…',
  ldots: '…',
  textellipsis: '…',
  TeX: 'TeX',
  LaTeX: 'LaTeX',
  BibTeX: 'BibTeX',
  textbackslash: '\\',
  textasciitilde: '~',
  textasciicircum: '^',
  textunderscore: '_',
  textbar: '|',
  textless: '<',
  textgreater: '>',
  textendash: '–',
  textemdash: '—',
  textbullet: '•',
  textmu: 'µ',
  texttimes: '×',
  slash: '/',
  quad: ' ',
  qquad: ' ',
  par: '\n\n',
  newline: ' ',
  linebreak: ' ',
  today: '',
  and: ', ',
  '%': '%',
  '&': '&',
  $: '$',
  '#': '#',
  _: '_',
  '{': '{',
  '}': '}',
  ' ': ' ',
  '\n': ' ',
  ',': ' ',
  ';': ' ',
  ':': ' ',
  '!': '',
  '-': '',
  '/': '',
  '@': '',
  '\\': ' ',
  '*': '',
};

/** The text of a command without arguments; undefined if it is not a symbol. */
export function texSymbol(command: string): string | undefined {
  return Object.hasOwn(symbols, command) ? symbols[command] : undefined;
}

export function isAccent(command: string): boolean {
  return Object.hasOwn(accents, command);
}

/** A letter with its accent. */
export function accented(command: string, letter: string): string {
  const base = letter.replace('ı', 'i').replace('ȷ', 'j');
  return base === '' ? '' : (base[0]! + accents[command]!).normalize('NFC') + base.slice(1);
}

/** Marks of text that are not commands: `--`, quotation marks, and a tie. */
export function texTypography(text: string): string {
  return text
    .replaceAll('---', '—')
    .replaceAll('--', '–')
    .replaceAll('``', '“')
    .replaceAll("''", '”')
    .replaceAll('~', '\u00a0')
    .replaceAll('`', '‘');
}
