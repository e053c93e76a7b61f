import { characterSet, subtract, type CharacterSet } from './regex/character-set.js';

/** Control characters but tab and the ends of lines. No constrained answer has them. */
const controls = characterSet([0, 8], [0x0b, 0x0c], [0x0e, 0x1f]);

/** The characters that a constrained answer can write. */
export function writable(set: CharacterSet): CharacterSet {
  return subtract(set, controls);
}

/** Whether a constrained answer can write all of a text. */
export function isWritable(text: string): boolean {
  // oxlint-disable-next-line no-control-regex -- they are what it looks for
  return !/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/.test(text);
}
