import { describe, expect, it } from 'vitest';
import { makeOdt } from '../../../../../test/fixtures/dataprep/make-office.js';
import { makeZip } from '../../../../../test/fixtures/dataprep/make-zip.js';
import { readDocument } from '../read-document.js';

const read = (filename: string, content: Uint8Array | string, keepRevisions = false) =>
  readDocument({
    filename,
    mimeType: '',
    bytes: typeof content === 'string' ? Buffer.from(content) : content,
    keepRevisions,
  });
const texts = async (...given: Parameters<typeof read>) =>
  (await read(...given)).blocks.map(({ kind, text }) =>
    /note|list|caption|heading/.test(kind) ? `${kind} ${text}` : text,
  );

describe('an OpenDocument text', () => {
  const cell = (text: string, facts = '') =>
    `<table:table-cell ${facts}><text:p>${text}</text:p></table:table-cell>`;
  const row = (cells: string) => `<table:table-row>${cells}</table:table-row>`;
  it.each([
    [
      'a note after its paragraph',
      '<text:p>Low fee<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>In May.</text:p></text:note-body></text:note>.</text:p><text:p>End.</text:p>',
      ['Low fee.', 'note In May.', 'End.'],
    ],
    [
      'a text box once',
      '<text:p>A<draw:frame><draw:text-box><text:p>Call 7.</text:p></draw:text-box></draw:frame> b</text:p>',
      ['A b', 'Call 7.'],
    ],
    [
      'paragraphs of a cell apart',
      `<table:table>${row(cell('Dock') + cell('Note'))}${row(cell('East') + '<table:table-cell><text:p>Open.</text:p><text:p>Shut.</text:p></table:table-cell>')}</table:table>`,
      ['Dock: East; Note: Open. Shut.'],
    ],
    [
      'merged cells',
      `<table:table>${row(cell('Dock') + cell('Mon') + cell('Tue'))}${row(cell('East', 'table:number-rows-spanned="2"') + cell('3') + cell('4'))}${row('<table:covered-table-cell/>' + cell('shut', 'table:number-columns-spanned="2"') + '<table:covered-table-cell/>')}</table:table>`,
      ['Dock: East; Mon: 3; Tue: 4', 'Dock: East; Mon: shut; Tue: shut'],
    ],
    [
      'a table within a table in order',
      `<table:table>${row(`<table:table-cell><text:p>Crew</text:p><table:table>${row(cell('Mate') + cell('Ada'))}</table:table></table:table-cell>` + cell('Sigrun'))}</table:table>`,
      ['Crew', 'Mate; Ada', 'Sigrun'],
    ],
    [
      'repeated blanks and ends of lines apart',
      '<text:p>one<text:line-break/>two<text:tab/>three<text:s text:c="3"/>four</text:p>',
      ['one two three four'],
    ],
  ])('keeps %s', async (_case, body, expected) => {
    expect(await texts('a.odt', makeOdt(body))).toEqual(expected);
  });

  it('leaves struck-out and hidden text out, or marks it', async () => {
    const styles =
      '<style:style style:name="S"><style:text-properties style:text-line-through-style="solid"/></style:style><style:style style:name="H"><style:text-properties text:display="none"/></style:style>';
    const odt = makeOdt(
      `${styles}<text:p>Rent <text:span text:style-name="S">90</text:span>70<text:span text:style-name="H"> secret</text:span></text:p>`,
    );
    expect(await texts('a.odt', odt)).toEqual(['Rent 70']);
    expect(await texts('a.odt', odt, true)).toEqual(['Rent ~~90~~ 70 [hidden: secret]']);
    expect((await read('a.odt', odt)).warnings).toMatchObject([{ code: 'hidden_part' }]);
  });
});

describe('rich text', () => {
  it.each([
    [String.raw`{\v secret}A {\deleted old}b {\strike 90} 70\par`, ['A b 70']],
    [
      String.raw`One\emspace two\enspace three\qmspace four\softline five\par`,
      ['One two three four', 'five'],
    ],
    [String.raw`Low{\footnote {\b In} May.} fee.\par End.\par`, ['Low fee.', 'In May.', 'End.']],
    [
      String.raw`\trowd\trhdr\intbl Boat\cell Fee\cell\row\trowd\intbl Ada\cell 12\cell\row\pard After.\par`,
      ['Boat: Ada; Fee: 12', 'After.'],
    ],
    [
      String.raw`Before.\par\trowd\intbl Boat\cell Crew\cell Fee\cell\row\trowd\intbl Ada\cell Bo\cell 12\cell\row\pard`,
      ['Before.', 'Boat: Ada; Crew: Bo; Fee: 12'],
    ],
    [String.raw`{\upr{ascii}{\*\ud{\u220?ber}}}\par`, ['Über']],
  ])('%s', async (body, expected) => {
    expect(await texts('a.rtf', `{\\rtf1\\ansi ${body}}`)).toEqual(expected);
  });

  it('keeps revisions with marks', async () => {
    expect(await texts('a.rtf', String.raw`{\rtf1 {\v x}{\strike 90} 70\par}`, true)).toEqual([
      '[hidden: x] ~~90~~ 70',
    ]);
  });
});

describe('a presentation', () => {
  const type = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
  const shape = (text: string, y?: number, title = false) =>
    `<p:sp><p:nvPr>${title ? '<p:ph type="title"/>' : ''}</p:nvPr>${y === undefined ? '' : `<p:spPr><a:xfrm><a:off x="0" y="${y}"/></a:xfrm></p:spPr>`}<p:txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p></p:txBody></p:sp>`;
  const pptx = (slides: [xml: string, show?: string][], parts: [kind: string, xml: string][] = []) =>
    makeZip({
      'ppt/presentation.xml': `<p:presentation>${slides.map((_slide, at) => `<p:sldId r:id="s${at}"/>`).join('')}</p:presentation>`,
      'ppt/_rels/presentation.xml.rels': `<Relationships>${slides.map((_slide, at) => `<Relationship Id="s${at}" Type="${type}/slide" Target="slides/slide${at}.xml"/>`).join('')}</Relationships>`,
      'ppt/slides/_rels/slide0.xml.rels': `<Relationships>${parts.map(([kind], at) => `<Relationship Id="d${at}" Type="${type}/${kind}" Target="../parts/p${at}.xml"/>`).join('')}</Relationships>`,
      ...Object.fromEntries(parts.map(([, xml], at) => [`ppt/parts/p${at}.xml`, xml])),
      ...Object.fromEntries(
        slides.map(([xml, show = '1'], at) => [
          `ppt/slides/slide${at}.xml`,
          `<p:sld show="${show}"><p:cSld><p:spTree>${xml}</p:spTree></p:cSld></p:sld>`,
        ]),
      ),
    });

  it('is read from top to bottom, the title first', async () => {
    expect(
      await texts('a.pptx', pptx([[shape('low', 900) + shape('high', 100) + shape('Plan', 5_000, true)]])),
    ).toEqual(['heading Plan', 'high', 'low']);
    expect(await texts('a.pptx', pptx([[shape('one') + shape('two', 100)]]))).toEqual(['one', 'two']);
  });

  it('has diagrams and charts', async () => {
    const diagram =
      '<dgm:dataModel><dgm:pt><dgm:t><a:p><a:r><a:t>Sand the hull</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:dataModel>';
    const points = (name: string, ...values: string[]) =>
      `<c:${name}><c:cache>${values.map((value) => `<c:pt><c:v>${value}</c:v></c:pt>`).join('')}</c:cache></c:${name}>`;
    const chart = `<c:chart><c:title><a:p><a:r><a:t>Guests</a:t></a:r></a:p></c:title><c:ser>${points('tx', 'Ferry')}${points('cat', 'May', 'June')}${points('val', '12', '30')}</c:ser></c:chart>`;
    expect(
      await texts(
        'a.pptx',
        pptx(
          [[shape('Plan', 0, true)]],
          [
            ['diagramData', diagram],
            ['chart', chart],
          ],
        ),
      ),
    ).toEqual([
      'heading Plan',
      'list-item Sand the hull',
      'caption Guests',
      'May; Ferry: 12',
      'June; Ferry: 30',
    ]);
  });

  it('leaves hidden slides out, and names them', async () => {
    const bytes = pptx([[shape('now')], [shape('old'), '0']]);
    expect(await texts('a.pptx', bytes)).toEqual(['now']);
    expect((await read('a.pptx', bytes)).warnings?.[0]?.message).toBe('Hidden slides were left out: 2.');
    expect(await texts('a.pptx', bytes, true)).toEqual(['now', 'old']);
  });
});
