import { describe, expect, it } from 'vitest';
import { readHtml } from '../read-html.js';
import { readMarkdown } from '../read-markdown.js';

const page = (html: string, keepRevisions = false) =>
  readHtml(html, { keepRevisions }).blocks.map(({ text }) => text);
const markdown = (source: string, keepRevisions = false) =>
  readMarkdown(source, { keepRevisions }).blocks.map(({ text }) => text);

describe('struck-out and hidden text of a page', () => {
  it.each([
    ['<p>Rent <s>90</s>70</p>', ['Rent 70'], ['Rent ~~90~~ 70']],
    ['<p>Rent <del>90</del><ins>70</ins></p>', ['Rent 70'], ['Rent ~~90~~ {++70++}']],
    ['<p>Price<strike>90</strike>70</p>', ['Price 70'], ['Price ~~90~~ 70']],
    ['<p>colo<del>u</del>r</p>', ['color'], ['colo ~~u~~ r']],
    ['<p>A <span style="TEXT-DECORATION: underline line-through">b</span> c</p>', ['A c'], ['A ~~b~~ c']],
    [
      '<style>.old, p.gone{color:red;text-decoration:line-through}</style><p>A <i class="old">b</i> c</p>',
      ['A c'],
      ['A ~~b~~ c'],
    ],
    [
      '<style>@media print{.x{display:none}} .y{display:none}</style><p class="x">A</p><p class="y">B</p>',
      ['A'],
      ['A', '[hidden: B]'],
    ],
    [
      '<p>A</p><div style="display : none"><p>B</p><p>C</p></div>',
      ['A'],
      ['A', '[hidden: B]', '[hidden: C]'],
    ],
    [
      '<p>A</p><p style="opacity:0">B</p><p style="opacity:0.9;font-size:0.8em">C</p>',
      ['A', 'C'],
      ['A', '[hidden: B]', 'C'],
    ],
    ['<body style="visibility:hidden"><p>A</p>', ['A'], ['A']],
    [
      '<table><tr><th>Item</th><th>Fee</th></tr><tr><td>Oar</td><td><s>9</s> 7</td></tr></table>',
      ['Item: Oar; Fee: 7'],
      ['Item: Oar; Fee: ~~9~~ 7'],
    ],
  ])('%s', (html, shown, kept) => {
    expect(page(html)).toEqual(shown);
    expect(page(html, true)).toEqual(kept);
  });

  it('is counted', () => {
    expect(readHtml('<p>A <s>b</s></p><p hidden>c</p>').warnings).toMatchObject([
      { code: 'hidden_part', message: expect.stringContaining('2') as string },
    ]);
  });
});

describe('struck-out text of Markdown', () => {
  it.each([
    ['Rent ~~90~~ 70', ['Rent 70'], ['Rent ~~90~~ 70']],
    ['Rent ~~90~~**70**', ['Rent 70'], ['Rent ~~90~~ 70']],
    ['Rent <del>90</del> 70', ['Rent 70'], ['Rent ~~90~~ 70']],
    ['- ~~old rule~~\n- new rule', ['new rule'], ['~~old rule~~', 'new rule']],
  ])('%s', (source, shown, kept) => {
    expect(markdown(source).filter(Boolean)).toEqual(shown);
    expect(markdown(source, true)).toEqual(kept);
  });
});

describe('targets of links', () => {
  it.each([
    ['<p>Write to <a href="mailto:a%40b.org?subject=x">us</a>.</p>', 'Write to us (a@b.org).'],
    ['<p>Call <a href="tel:+4712">the <b>desk</b></a>.</p>', 'Call the desk (+4712).'],
    [
      '<p>See <a href="https://a.org/x">a.org/x</a> and <a href="/local">more</a>.</p>',
      'See a.org/x and more.',
    ],
    [
      '<table><tr><td>Form: <a href="https://a.org/f">here</a></td></tr></table>',
      'Form: here (https://a.org/f)',
    ],
  ])('%s', (html, expected) => {
    expect(page(html)).toEqual([expected]);
  });

  it('are kept in Markdown, also by reference', () => {
    expect(markdown('[Here](https://a.org/f), [there][x], <https://b.org>.\n\n[x]: mailto:c@d.org')).toEqual([
      'Here (https://a.org/f), there (c@d.org), https://b.org.',
    ]);
  });

  it('do not fill a list of links', () => {
    const links = Array.from(
      { length: 40 },
      (_unused, at) => `<li><a href="https://a.org/${at}">Page</a></li>`,
    );
    expect(page(`<ul>${links.join('')}</ul>`)[0]).toBe('Page');
  });
});

describe('the parts of a page', () => {
  it.each([
    ['several main parts', '<nav>x</nav><main><p>A</p></main><div role="main"><p>B</p></div>', ['A', 'B']],
    [
      'articles beside the main part',
      '<main><p>A</p></main><article><p>B</p><article><p>C</p></article></article>',
      ['A', 'B', 'C'],
    ],
    [
      'text without scripts',
      '<noscript><p>At 7.</p></noscript><noscript>Please enable JavaScript.</noscript>',
      ['At 7.'],
    ],
    [
      'descriptions of pictures',
      '<p>Map: <img alt="berth B4">.</p><img alt="a.png"><img alt="" >',
      ['Map: berth B4 .'],
    ],
  ])('are %s', (_case, html, expected) => {
    expect(page(`<body>${html}</body>`)).toEqual(expected);
  });
});

describe('front matter', () => {
  it.each([
    [
      '---\ntitle: Storage\nauthor: Ada\ntags:\n  - hull\n  - wax\nlayout: post\n---\nWax.',
      ['author: Ada; tags: hull, wax', 'Wax.'],
    ],
    [
      '+++\ntitle = "Storage"\ndate = 2024-10-02\nauthors = ["Ada", "Bo"]\n+++\nWax.',
      ['date: 2024-10-02; authors: Ada, Bo', 'Wax.'],
    ],
    ['---\ntitle: Storage\nsummary: "a: b\n---\nWax.', ['summary: "a: b', 'Wax.']],
    ['---\nabout:\n  region: west\n  year: 2024\n---\nWax.', ['about: region west, year 2024', 'Wax.']],
  ])('%s', (source, expected) => {
    expect(markdown(source)).toEqual(expected);
  });
  it('names the title in TOML', () => {
    expect(readMarkdown('+++\ntitle = "Storage"\n+++\nWax.').title).toBe('Storage');
  });
});
