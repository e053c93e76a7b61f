/** The terminals of Lark's library `common`, as expressions. */
const int = '[0-9]+';
const decimal = `(?:${int}\\.(?:${int})?|\\.${int})`;
const exponent = `[eE][+-]?${int}`;
const float = `(?:${int}${exponent}|${decimal}(?:${exponent})?)`;
const number = `(?:${float}|${int})`;

export const larkLibrary: Readonly<Record<string, string>> = {
  DIGIT: '[0-9]',
  HEXDIGIT: '[0-9A-Fa-f]',
  INT: int,
  SIGNED_INT: `[+-]?${int}`,
  DECIMAL: decimal,
  FLOAT: float,
  SIGNED_FLOAT: `[+-]?${float}`,
  NUMBER: number,
  SIGNED_NUMBER: `[+-]?${number}`,
  ESCAPED_STRING: '"(?:[^"\\\\\\n]|\\\\.)*"',
  LCASE_LETTER: '[a-z]',
  UCASE_LETTER: '[A-Z]',
  LETTER: '[A-Za-z]',
  WORD: '[A-Za-z]+',
  CNAME: '[A-Za-z_][A-Za-z0-9_]*',
  WS_INLINE: '[ \\t]+',
  WS: '[ \\t\\f\\r\\n]+',
  CR: '\\r',
  LF: '\\n',
  NEWLINE: '(?:\\r?\\n)+',
  SH_COMMENT: '#[^\\n]*',
  CPP_COMMENT: '//[^\\n]*',
  C_COMMENT: '/\\*(?:[^*]|\\*+[^*/])*\\*+/',
  SQL_COMMENT: '--[^\\n]*',
};
