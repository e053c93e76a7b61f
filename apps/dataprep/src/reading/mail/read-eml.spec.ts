import { describe, expect, it } from 'vitest';
import { makeXlsx } from '../../../../../test/fixtures/dataprep/make-office.js';
import { readDocument } from '../read-document.js';

const read = (lines: string[], filename = 'a.eml') =>
  readDocument({ filename, mimeType: '', bytes: new Uint8Array(Buffer.from(lines.join('\r\n'))) });
const head = ['From: Ada <a@b.org>', 'To: c@d.org', 'Subject: Fees', 'MIME-Version: 1.0'];
const part = (name: string, content: string | Buffer, type = 'application/octet-stream') => [
  '--q',
  `Content-Type: ${type}; name="${name}"`,
  `Content-Disposition: attachment; filename="${name}"`,
  'Content-Transfer-Encoding: base64',
  '',
  Buffer.from(content).toString('base64'),
];
const mail = (...parts: string[][]) => [
  ...head,
  'Content-Type: multipart/mixed; boundary="q"',
  '',
  '--q',
  'Content-Type: text/plain',
  '',
  'See below.',
  ...parts.flat(),
  '--q--',
];

describe('attachments', () => {
  it.each([
    ['a text', part('note.txt', 'The fee is 64 crowns.', 'text/plain'), 'The fee is 64 crowns.'],
    [
      'a workbook',
      part(
        'fees.xlsx',
        makeXlsx({
          One: [
            ['Berth', 'Fee'],
            ['B4', 64],
          ],
        }),
      ),
      'Berth: B4; Fee: 64',
    ],
    ['a page', part('page.html', '<h1>Fees</h1><p>It is 64 crowns.</p>', 'text/html'), 'It is 64 crowns.'],
  ])('are sections: %s', async (_case, lines, expected) => {
    const { blocks, facts } = await read(mail(lines));
    const at = blocks.findIndex(({ text }) => text.startsWith('Attachment '));
    expect(blocks[at]).toMatchObject({ kind: 'heading', level: 2 });
    expect(blocks.slice(at).map(({ text }) => text)).toContain(expected);
    expect(facts).toMatchObject({ attachments: 1 });
  });

  it('that cannot be read are named', async () => {
    const { warnings, blocks } = await read(mail(part('song.mp3', 'ID3\u0004'), part('note.txt', 'Fee 64.')));
    expect(warnings).toMatchObject([
      { code: 'attachment_skipped', message: expect.stringContaining('song.mp3') as string },
    ]);
    expect(blocks.at(-1)?.text).toBe('Fee 64.');
  });
});

it('keeps the day of the sender, and all people', async () => {
  const lines = [...head, 'Cc: e@f.org, G <g@h.org>', 'Date: Mon, 1 Jan 2024 23:30:00 -0500', '', 'Hello.'];
  const { blocks, date } = await read(lines);
  expect(date).toBe('2024-01-01');
  expect(blocks[1]?.text).toBe(
    'From: Ada <a@b.org>; To: c@d.org; Cc: e@f.org, G <g@h.org>; Date: 2024-01-01',
  );
});

it('reads a mailbox mail by mail', async () => {
  const one = [
    'From a@b Mon Jan  1 00:00:00 2024',
    'Subject: One',
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: quoted-printable',
    '',
    '=C3=9Cber deck.',
    '>From here on.',
    '',
  ];
  const two = ['From c@d Mon Jan  1 00:00:00 2024', 'Subject: Two', '', 'Keel.'];
  const { blocks } = await read([...one, ...two], 'a.mbox');
  expect(blocks.map(({ text }) => text)).toEqual(['One', 'Über deck.', 'From here on.', 'Two', 'Keel.']);
});

it('reads a saved page', async () => {
  const page = [
    'From: <Saved>',
    'Subject: Mast',
    'MIME-Version: 1.0',
    'Content-Type: multipart/related; boundary="q"; type="text/html"',
    '',
    '--q',
    'Content-Type: text/html; charset=utf-8',
    'Content-Transfer-Encoding: quoted-printable',
    '',
    '<p>=C3=9Cber deck.</p>',
    '--q',
    'Content-Type: image/png',
    'Content-Location: a.png',
    'Content-Transfer-Encoding: base64',
    '',
    'iVBORw0KGgo=',
    '--q--',
  ];
  const { blocks, warnings } = await read(page, 'a.mht');
  expect(blocks.at(-1)?.text).toBe('Über deck.');
  expect(warnings).toBeUndefined();
});

describe('an answer', () => {
  it('quotes earlier mails as texts of their own, below who wrote them', async () => {
    const { blocks } = await read([
      ...head,
      '',
      'We take the electric one. The chimney of the other one costs more than',
      'the oven.',
      '',
      '> On 3 May 2026, Ada wrote:',
      '> I would prefer wood, but nobody wants to carry logs in February or in',
      '> March.',
      '>> On 2 May 2026, Ben wrote:',
      '>> Wood: 2,900 euros.',
    ]);
    expect(blocks.slice(2).map(({ kind, text }) => [kind, text])).toEqual([
      ['paragraph', 'We take the electric one. The chimney of the other one costs more than the oven.'],
      ['heading', 'On 3 May 2026, Ada wrote'],
      ['paragraph', 'I would prefer wood, but nobody wants to carry logs in February or in March.'],
      ['heading', 'On 2 May 2026, Ben wrote'],
      ['paragraph', 'Wood: 2,900 euros.'],
    ]);
  });
});
