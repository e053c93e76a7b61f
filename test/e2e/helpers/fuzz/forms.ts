import { pcmWav } from '#platform/foundation';
import type { Random } from './random.js';

/** A part of a form: a field, or a file where it has a name for one. */
interface FormPart {
  name?: string;
  filename?: string;
  contentType?: string;
  content: Uint8Array | string;
}

export interface FuzzForm {
  contentType: string;
  body: Uint8Array<ArrayBuffer>;
  /** Every part has a name, so that what is wrong with one can be named. */
  isNamed: boolean;
}

const boundary = '----fuzz';
const fileFields = /^(files?(\[\])?|audio|data)$/;
const contents: readonly (Uint8Array | string)[] = [
  'MegaNest speaks over NATS.',
  '',
  '# A heading\n\nAnd a word.',
  '%PDF-1.7\n1 0 obj',
  'PK\u0003\u0004 no archive',
  new Uint8Array([0x52, 0x49, 0x46, 0x46, 0xff, 0xff, 0xff, 0xff, 0x57, 0x41, 0x56, 0x45]),
  new Uint8Array([0xc3, 0x28, 0x00, 0xff, 0xfe]),
  'x'.repeat(70_000),
];
/** A hundred milliseconds of it, 16-bit PCM at 8 kHz in a WAV file. */
const silence = pcmWav(new Int16Array(800), 8_000);
const fileNames = [
  'a.txt',
  'a.pdf',
  'a.wav',
  'a.docx',
  'noext',
  '',
  '../../etc/passwd',
  '\u0000.txt',
  '💩.md',
  'a"b;c=d.txt',
  `${'n'.repeat(400)}.txt`,
];
const types = [
  'text/plain',
  'application/octet-stream',
  'audio/wav',
  'application/pdf',
  'nonsense',
  'a/b; c',
];

/**
 * A value of a form's schema as a form. One in four is left as the value says; of the others the parts or the bytes have
 * something wrong with them.
 */
export function makeForm(value: unknown, random: Random): FuzzForm {
  const fields = typeof value === 'object' && value !== null ? Object.entries(value) : [['', value] as const];
  const parts: FormPart[] = fields.map(([name, field]) =>
    fileFields.test(name) ? makeFile(name, random) : makeField(name, field),
  );
  // Some routes take files that their document does not list.
  if (parts.every(({ filename }) => filename === undefined) && random.chance(0.5))
    parts.push(makeFile(random.pick(['file', 'files']), random));
  const trouble = random.below(4);
  const isNamed = (trouble !== 1 || spoilParts(parts, random)) && parts.every(({ name }) => name !== '');
  const body = encode(parts);
  if (trouble !== 2) return { contentType: `multipart/form-data; boundary=${boundary}`, body, isNamed };
  return { ...spoilBytes(body, random), isNamed: false };
}

function makeField(name: string, value: unknown): FormPart {
  return { name, content: typeof value === 'string' ? value : (JSON.stringify(value) ?? '') };
}

function makeFile(name: string, random: Random): FormPart {
  if (random.chance(0.3)) return { name, filename: 'a.wav', contentType: 'audio/wav', content: silence };
  const filename = random.chance(0.7) ? 'a.txt' : random.pick(fileNames);
  return { name, filename, contentType: random.pick(types), content: random.pick(contents) };
}

/** Spoils one part, or adds one that does not belong there; false where what is wrong has no name then. */
function spoilParts(parts: FormPart[], random: Random): boolean {
  const at = random.below(parts.length || 1);
  const part = (parts[at] ??= makeField('extra', 'x'));
  switch (random.below(12)) {
    case 0:
      parts.splice(at, 1);
      return true;
    case 1:
      parts.push({ ...part });
      return true;
    case 2:
      part.filename = part.filename === undefined ? 'field.txt' : undefined;
      return true;
    case 3:
      part.contentType = random.pick(types);
      return true;
    case 4:
      part.content = random.pick(contents);
      return true;
    case 5:
      part.content = 'y'.repeat(300_000);
      return true;
    case 6:
      parts.push(makeField(`${part.name}[deep]`, 'x'), makeFile(`${part.name}[]`, random));
      return true;
    case 7:
      parts.push(makeField('unknown field "', '💩'));
      return true;
    case 8:
      part.name = undefined;
      return false;
    case 9:
      Object.assign(part, { filename: undefined, contentType: 'application/json', content: '{"cut' });
      return false;
    case 10:
      part.name = random.pick(['__proto__', 'constructor', 'toString', '']);
      return false;
    default:
      for (let count = 0; count < 200; count += 1) parts.push(makeField(`f${count}`, 'x'));
      return false;
  }
}

/** The bytes of a form that is none any more, or the head of another. */
function spoilBytes(whole: Uint8Array<ArrayBuffer>, random: Random): Omit<FuzzForm, 'isNamed'> {
  const contentType = `multipart/form-data; boundary=${boundary}`;
  const text = (changed: string) => new TextEncoder().encode(changed);
  switch (random.below(7)) {
    case 0:
      return { contentType, body: whole.slice(0, random.below(whole.length + 1)) };
    case 1:
      return { contentType: 'multipart/form-data; boundary=other', body: whole };
    case 2:
      return { contentType: 'multipart/form-data', body: whole };
    case 3:
      return { contentType, body: new Uint8Array() };
    case 4:
      return { contentType, body: Uint8Array.from(whole, (byte) => (random.chance(0.02) ? 0xc3 : byte)) };
    case 5:
      return { contentType, body: text(new TextDecoder().decode(whole).replaceAll('\r\n', '\n')) };
    default:
      return { contentType, body: text(`--${boundary}\r\n`.repeat(2_000)) };
  }
}

function encode(parts: readonly FormPart[]): Uint8Array<ArrayBuffer> {
  const pieces = parts.flatMap(({ name, filename, contentType, content }) => {
    const named = name === undefined ? '' : `; name="${quote(name)}"`;
    const file = filename === undefined ? '' : `; filename="${quote(filename)}"`;
    const type = contentType === undefined ? '' : `Content-Type: ${contentType}\r\n`;
    const head = `--${boundary}\r\nContent-Disposition: form-data${named}${file}\r\n${type}\r\n`;
    return [Buffer.from(head), Buffer.from(content), Buffer.from('\r\n')];
  });
  return Uint8Array.from(Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)]));
}

function quote(text: string): string {
  return text.replaceAll('"', '%22').replaceAll(/[\r\n]/g, ' ');
}
