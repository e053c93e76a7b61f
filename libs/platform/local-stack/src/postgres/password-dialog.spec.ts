import { expect, it, describe } from 'vitest';
import { PasswordDialog } from './password-dialog.js';

function message(body: Buffer, type?: string): Buffer {
  const head = Buffer.alloc(4);
  head.writeInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(type ?? ''), head, body]);
}

const version = Buffer.of(0, 3, 0, 0);
const startup = message(Buffer.concat([version, Buffer.from('user\0postgres\0\0')]));
const encryption = message(Buffer.of(0x04, 0xd2, 0x16, 0x2f));
const password = (text: string) => message(Buffer.from(`${text}\0`), 'p');
const query = message(Buffer.from('SELECT 1\0'), 'Q');

function begin() {
  const answers: string[] = [];
  const dialog = new PasswordDialog('right', (bytes) => answers.push(bytes.toString('latin1')));
  return { dialog, answers };
}

describe('PasswordDialog', () => {
  it('hands on what the client sent after the right password, however it is cut', () => {
    const sent = Buffer.concat([encryption, startup, password('right'), query]);
    for (const size of [1, 7, sent.length]) {
      const { dialog, answers } = begin();
      const passed: Buffer[] = [];
      for (let at = 0; at < sent.length; at += size) {
        const piece = sent.subarray(at, at + size);
        const rest = passed.length > 0 ? piece : dialog.take(piece);
        if (rest) passed.push(rest);
      }
      expect(Buffer.concat(passed)).toEqual(Buffer.concat([startup, query]));
      expect(answers).toEqual(['N', 'R\0\0\0\b\0\0\0\x03']);
    }
  });

  it.each([
    ['a wrong password', [startup, password('wrong')], '28P01'],
    ['an empty password', [startup, password('')], '28P01'],
    ['a query before the password', [startup, query], '28P01'],
    ['a message that is too long', [Buffer.of(0x7f, 0xff, 0xff, 0xff), version], '08P01'],
    ['a negative length', [startup, Buffer.from('p'), Buffer.of(0xff, 0xff, 0xff, 0)], '08P01'],
    ['another protocol', [Buffer.from('GET / HTTP/1.1\r\n')], '0A000'],
  ])('refuses %s', (_name, sent, code) => {
    const { dialog } = begin();
    expect(() => dialog.take(Buffer.concat(sent))).toThrow(expect.objectContaining({ code }));
  });
});
