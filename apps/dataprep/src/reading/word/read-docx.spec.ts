import { describe, expect, it } from 'vitest';
import { makeZip } from '../../../../../test/fixtures/dataprep/make-zip.js';
import { defaultReadingLimits } from '../parsed-document.js';
import { readDocx } from './read-docx.js';

const type = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
/** A document with this body, and further parts by their kind of relation. */
const docx = (body: string, parts: Record<string, string> = {}, links: Record<string, string> = {}) =>
  makeZip({
    'word/document.xml': `<w:document><w:body>${body}</w:body></w:document>`,
    'word/_rels/document.xml.rels': `<Relationships>${Object.keys(parts)
      .map(
        (kind, at) =>
          `<Relationship Id="p${at}" Type="${type}/${kind.replace(/\d/, '')}" Target="/word/${kind}.xml"/>`,
      )
      .join('')}${Object.entries(links)
      .map(
        ([id, target]) =>
          `<Relationship Id="${id}" Type="${type}/hyperlink" Target="${target}" TargetMode="External"/>`,
      )
      .join('')}</Relationships>`,
    ...Object.fromEntries(Object.entries(parts).map(([kind, xml]) => [`word/${kind}.xml`, xml])),
  });
const run = (text: string, properties = '') =>
  `<w:r><w:rPr>${properties}</w:rPr><w:t xml:space="preserve">${text}</w:t></w:r>`;
const p = (content: string, properties = '') => `<w:p><w:pPr>${properties}</w:pPr>${content}</w:p>`;
const read = (bytes: Uint8Array, keepRevisions = false) =>
  readDocx({ filename: 'a.docx', mimeType: '', bytes, keepRevisions }, defaultReadingLimits);
const texts = async (bytes: Uint8Array, keepRevisions = false) =>
  (await read(bytes, keepRevisions)).blocks.map(({ kind, text }) =>
    kind === 'paragraph' ? text : `${kind} ${text}`,
  );

describe('fields and equations', () => {
  const field = (code: string, result: string) =>
    `<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>${code}</w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>${run(result)}<w:r><w:fldChar w:fldCharType="end"/></w:r>`;
  const e = (name: string, text: string) => `<m:${name}><m:r><m:t>${text}</m:t></m:r></m:${name}>`;
  it.each([
    [`${run('Due in ')}<w:fldSimple w:instr="X">${run('9 days')}</w:fldSimple>`, 'Due in 9 days'],
    [run('Due ') + field('DOCPROPERTY x', 'today'), 'Due today'],
    [run('See ') + field(' HYPERLINK "https://a.org/x" ', 'the form'), 'See the form (https://a.org/x)'],
    [
      `<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:checkBox><w:checked/></w:checkBox></w:ffData></w:fldChar></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>${run(' insured')}`,
      '☒ insured',
    ],
    [`${run('Load ')}<m:oMath><m:f>${e('num', 'a+b')}${e('den', 'c')}</m:f></m:oMath>`, 'Load (a+b)/c'],
    [
      `<m:oMath><m:sSup>${e('e', 'x')}${e('sup', '2')}</m:sSup><m:rad><m:deg/>${e('e', 'y+1')}</m:rad></m:oMath>`,
      'x²√(y+1)',
    ],
    [
      `<m:oMath><m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr>${e('sub', 'i=1')}${e('sup', 'n')}${e('e', 'i')}</m:nary></m:oMath>`,
      '∑_(i=1)^n i',
    ],
    [
      `<m:oMath><m:sSub>${e('e', 'v')}${e('sub', 'max')}</m:sSub><m:d>${e('e', 't')}</m:d></m:oMath>`,
      'v_max(t)',
    ],
  ])('are text: %#', async (content, expected) => {
    expect(await texts(docx(p(content)))).toEqual([expected]);
  });
});

describe('numbers of paragraphs', () => {
  const level = (ilvl: number, format: string, text: string) =>
    `<w:lvl w:ilvl="${ilvl}"><w:start w:val="1"/><w:numFmt w:val="${format}"/><w:lvlText w:val="${text}"/></w:lvl>`;
  const numbering = `<w:numbering><w:abstractNum w:abstractNumId="0">${level(0, 'decimal', 'Article %1')}${level(1, 'lowerLetter', '%1.%2)')}${level(2, 'upperRoman', '%3.')}</w:abstractNum><w:abstractNum w:abstractNumId="1">${level(0, 'bullet', '•')}</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num><w:num w:numId="3"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/></w:lvlOverride></w:num></w:numbering>`;
  const item = (text: string, list: number, ilvl = 0, style = '') =>
    p(run(text), `${style}<w:numPr><w:ilvl w:val="${ilvl}"/><w:numId w:val="${list}"/></w:numPr>`);

  it('follow the levels of their list', async () => {
    const body =
      item('One', 1) +
      item('x', 1, 1) +
      item('y', 1, 1) +
      item('deep', 1, 2) +
      item('Two', 1) +
      item('z', 1, 1) +
      item('Dot', 2) +
      item('Again', 3);
    expect(await texts(docx(body, { numbering }))).toEqual([
      'list-item Article 1 One',
      'list-item 1.a) x',
      'list-item 1.b) y',
      'list-item I. deep',
      'list-item Article 2 Two',
      'list-item 2.a) z',
      'list-item Dot',
      'list-item Article 1 Again',
    ]);
  });

  it('come from styles, also for headings', async () => {
    const styles =
      '<w:styles><w:style w:styleId="C"><w:name w:val="Clause"/><w:pPr><w:outlineLvl w:val="1"/><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style><w:style w:styleId="D"><w:basedOn w:val="C"/></w:style></w:styles>';
    const body = p(run('Scope'), '<w:pStyle w:val="C"/>') + p(run('Fees'), '<w:pStyle w:val="D"/>');
    expect((await read(docx(body, { numbering, styles }))).blocks).toEqual([
      { kind: 'heading', level: 2, text: 'Article 1 Scope' },
      { kind: 'heading', level: 2, text: 'Article 2 Fees' },
    ]);
  });
});

describe('revisions', () => {
  const tracked = p(
    `${run('Rent ')}<w:del><w:r><w:delText>9</w:delText></w:r><w:r><w:delText>0</w:delText></w:r></w:del><w:ins>${run('70')}</w:ins>${run(' now')}`,
  );
  it.each([
    [tracked, ['Rent 70 now'], ['Rent {--90--} {++70++} now']],
    [
      p(run('13') + '<w:del><w:r><w:delText>0</w:delText></w:r></w:del><w:ins>' + run('5') + '</w:ins>'),
      ['135'],
      ['13 {--0--} {++5++}'],
    ],
    [p(run('Rent ') + run('90', '<w:dstrike/>') + run('70')), ['Rent 70'], ['Rent ~~90~~ 70']],
    [
      p(run('A ') + run('b', '<w:vanish/>') + run(' c', '<w:vanish w:val="0"/>')),
      ['A c'],
      ['A [hidden: b] c'],
    ],
    [`<w:moveFrom>${p(run('X'))}</w:moveFrom>${p(run('Y'))}`, ['Y'], ['X', 'Y']],
  ])('are left out, or marked: %#', async (body, shown, kept) => {
    expect(await texts(docx(body))).toEqual(shown);
    expect(await texts(docx(body), true)).toEqual(kept);
  });

  it('of a style count, and are named', async () => {
    const styles = '<w:styles><w:style w:styleId="Old"><w:rPr><w:strike/></w:rPr></w:style></w:styles>';
    const document = await read(
      docx(p(run('A ') + run('b', '<w:rStyle w:val="Old"/>') + run(' c')), { styles }),
    );
    expect(document.blocks[0]?.text).toBe('A c');
    expect(document.warnings).toMatchObject([{ code: 'hidden_part' }]);
  });
});

describe('parts around the text', () => {
  it('are notes after their paragraph, page headers first and footers last, once', async () => {
    const reference = '<w:r><w:footnoteReference w:id="2"/></w:r>';
    const parts = {
      footnotes: `<w:footnotes><w:footnote w:id="0" w:type="separator">${p(run('-'))}</w:footnote><w:footnote w:id="2">${p(run('In May only.'))}</w:footnote></w:footnotes>`,
      header1: `<w:hdr>${p(run('Contract HX-77'))}</w:hdr>`,
      header2: `<w:hdr>${p(run('Contract HX-77'))}</w:hdr>`,
      footer1: `<w:ftr>${p(run('Page 1 of 3'))}${p(run('Molde Harbour, page 1'))}</w:ftr>`,
    };
    expect(await texts(docx(p(run('Low fee') + reference + run('.')) + p(run('End.')), parts))).toEqual([
      'Contract HX-77',
      'Low fee.',
      'note In May only.',
      'End.',
      'Molde Harbour,',
    ]);
  });

  it('are addresses of links, text boxes and descriptions of pictures', async () => {
    const box = `<w:r><w:drawing><wp:docPr descr="Map of berth B4"/><wps:txbx><w:txbxContent>${p(run('Call 77.'))}</w:txbxContent></wps:txbx></w:drawing></w:r>`;
    const link = `<w:hyperlink r:id="h">${run('us')}</w:hyperlink>`;
    expect(await texts(docx(p(run('Write ') + link + box), {}, { h: 'mailto:a@b.org' }))).toEqual([
      'Write us (a@b.org)',
      'caption Map of berth B4',
      'Call 77.',
    ]);
  });
});

describe('tables', () => {
  const cell = (text: string, properties = '') =>
    `<w:tc><w:tcPr>${properties}</w:tcPr>${p(run(text))}</w:tc>`;
  const row = (cells: string, properties = '') => `<w:tr><w:trPr>${properties}</w:trPr>${cells}</w:tr>`;
  const start = '<w:vMerge w:val="restart"/>';
  it.each([
    [
      'merged cells',
      row(cell('Dock') + cell('Mon') + cell('Tue'), '<w:tblHeader/>') +
        row(cell('East', start) + cell('open') + cell('shut')) +
        row(cell('', '<w:vMerge/>') + cell('by request', '<w:gridSpan w:val="2"/>')),
      ['Dock: East; Mon: open; Tue: shut', 'Dock: East; Mon: by request; Tue: by request'],
    ],
    [
      'two rows of headers',
      row(cell('Dock', start) + cell('2023', '<w:gridSpan w:val="2"/>'), '<w:tblHeader/>') +
        row(cell('', '<w:vMerge/>') + cell('Ships') + cell('Crew'), '<w:tblHeader/>') +
        row(cell('East') + cell('3') + cell('40')),
      ['Dock: East; 2023 Ships: 3; 2023 Crew: 40'],
    ],
    [
      'bold headers',
      row(`<w:tc>${p(run('Name', '<w:b/>'))}</w:tc><w:tc>${p(run('Role', '<w:b/>'))}</w:tc>`) +
        row(cell('Ada') + cell('Mate')),
      ['Name: Ada; Role: Mate'],
    ],
  ])('keep %s', async (_case, rows, expected) => {
    expect((await read(docx(`<w:tbl>${rows}</w:tbl>`))).blocks.map(({ text }) => text)).toEqual(expected);
  });
});
