import { describe, expect, it } from 'vitest';
import { decodeText } from '../decode-text.js';
import { decoderOf, encodingName } from './encodings.js';

/** The bytes of a text in an encoding, found by decoding all characters of one and two bytes. */
function encode(text: string, encoding: string): Uint8Array {
  const decoder = decoderOf(encoding);
  const bytesOf = new Map<string, number[]>();
  for (let lead = 255; lead >= 128; lead -= 1) bytesOf.set(decoder.decode(Uint8Array.of(lead)), [lead]);
  const isWide = /gb|shift|big5|euc/.test(encoding);
  for (let lead = isWide ? 254 : 0; lead > 128; lead -= 1)
    for (let trail = 254; trail >= 0x40; trail -= 1)
      bytesOf.set(decoder.decode(Uint8Array.of(lead, trail)), [lead, trail]);
  return Uint8Array.from(
    Array.from(text).flatMap((letter) => (letter < '\u0080' ? letter.charCodeAt(0) : bytesOf.get(letter)!)),
  );
}
const decode = (bytes: Uint8Array, facts = {}) =>
  decodeText({ bytes, filename: 'a.txt', mimeType: '', ...facts });

describe('the encoding of a text', () => {
  it.each([
    ['windows-1252', 'Die Fähre fährt über die Brücke, außer an Feiertagen im März.'],
    ['windows-1252', 'La clé de l’entrepôt est accrochée à côté de la fenêtre.'],
    ['windows-1252', '¿Cuánto cuesta el amarre mañana? El niño pagó según la lista.'],
    ['windows-1252', 'Färjan går från östra kajen på lördagar.'],
    ['windows-1250', 'Łódź stoi przy wschodnim nabrzeżu, a opłata wynosi pięćdziesiąt koron.'],
    ['windows-1250', 'A kikötői díj negyven korona, őszi időszakban kevesebb.'],
    ['windows-1251', 'Паром отходит от причала в семь часов.'],
    ['windows-1251', 'Човен стоїть біля східного пірса.'],
    ['windows-1253', 'Η πύλη ανοίγει κάθε μέρα στις επτά.'],
    ['windows-1254', 'Kapı her gün saat yedide açılır, ücret kırk krondur.'],
    ['windows-1255', 'השער נפתח כל יום בשעה שבע בבוקר.'],
    ['windows-1256', 'تفتح البوابة كل يوم في الساعة السابعة صباحا.'],
    ['windows-874', 'ประตูเปิดทุกวันเวลาเจ็ดโมงเช้า'],
    ['koi8-r', 'Лодки длиннее десяти метров стоят у восточного пирса.'],
    ['iso-8859-5', 'Лодки длиннее десяти метров стоят у восточного пирса.'],
    ['ibm866', 'Ключ от склада висит в конторе.'],
    ['x-mac-cyrillic', 'Ключ от склада висит в конторе у восточного пирса.'],
    ['macintosh', 'Die Fähre fährt über die Brücke, außer an Feiertagen.'],
    ['cp850', 'Die Fähre fährt über die Brücke, außer an Feiertagen.'],
    ['cp852', 'Každý den se brána otevírá v sedm hodin ráno, příjezd zdarma.'],
    ['gb18030', '渡轮每天早上七点从东码头出发。'],
    ['big5', '渡輪每天早上七點從東碼頭出發。'],
    ['shift_jis', 'フェリーは毎朝七時に東の桟橋から出ます。'],
    ['euc-jp', 'フェリーは毎朝七時に東の桟橋から出ます。'],
    ['euc-kr', '여객선은 매일 아침 일곱 시에 출발합니다.'],
  ])('%s is found: %s', (encoding, text) => {
    const decoded = decode(encode(text, encoding));
    expect(decoded.text).toBe(text);
    expect(decoded.confidence).toBeGreaterThan(0.1);
    expect(decoded.warnings).toMatchObject([{ code: 'encoding_guessed' }]);
  });

  it.each([
    ['one bad byte', [0xff]],
    ['a letter that is cut off', [0xc3]],
  ])('is UTF-8 in spite of %s', (_case, end) => {
    const bytes = Uint8Array.from([...new TextEncoder().encode('Größe süß, Schlüssel, Öl: '), ...end]);
    expect(decode(bytes)).toMatchObject({
      text: 'Größe süß, Schlüssel, Öl: \ufffd',
      encoding: 'utf-8',
      warnings: [{ code: 'damaged_text' }],
    });
  });

  it('is UTF-16 without a mark and without letters of ASCII', () => {
    const bytes = Uint8Array.from(Buffer.from('渡轮每天早上七点从东码头出发。\n船', 'utf16le'));
    expect(decode(bytes)).toMatchObject({ text: '渡轮每天早上七点从东码头出发。\n船', encoding: 'utf-16le' });
    expect(() => decode(Uint8Array.from({ length: 400 }, (_unused, at) => (at * 7919) % 256))).toThrow(
      'binary data',
    );
  });

  it('is what the sender says, or the Content-Type', () => {
    const bytes = encode('Größe', 'cp850');
    expect(decode(bytes, { encoding: 'cp850' })).toMatchObject({ text: 'Größe', warnings: [] });
    expect(decode(encode('Ключ', 'koi8-r'), { mimeType: 'text/plain; charset=koi8-r' })).toMatchObject({
      text: 'Ключ',
      encoding: 'koi8-r',
      warnings: [],
    });
  });

  it('is found where only the end of a long text is not ASCII', () => {
    const bytes = Buffer.concat([
      Buffer.from('x '.repeat(200_000)),
      encode('Паром отходит от причала.', 'koi8-r'),
    ]);
    expect(decode(bytes).encoding).toBe('koi8-r');
  });
});

it('knows the names of encodings', () => {
  expect(['latin1', 'IBM850', 'cp-852', 'GBK', 'x'].map((name) => encodingName(name))).toEqual([
    'windows-1252',
    'cp850',
    'cp852',
    'gbk',
    undefined,
  ]);
});
