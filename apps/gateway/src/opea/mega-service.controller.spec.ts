import { describe, expect, it } from 'vitest';
import { pythonBytesLiteral } from './mega-service.controller.js';

describe('pythonBytesLiteral', () => {
  it.each([
    ['token', "b'token'"],
    ['café', "b'caf\\xc3\\xa9'"],
    ["it's", 'b"it\'s"'],
    ['it\'s "so"', "b'it\\'s \"so\"'"],
    ['a\n\tb\\', "b'a\\n\\tb\\\\'"],
    ['\u0000\u007f', "b'\\x00\\x7f'"],
    ['', "b''"],
  ])('writes %j as Python does', (text, literal) => {
    expect(pythonBytesLiteral(text)).toBe(literal);
  });
});
