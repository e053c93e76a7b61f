/** Kinds of generated pages. */
export const kinds = ['columns', 'ruled', 'unruled', 'merged', 'footnotes', 'form', 'rotated'] as const;
export type PageKind = (typeof kinds)[number];

/** A generated page and what a reader has to find on it. */
export interface GeneratedPage {
  kind: PageKind;
  html: string;
  /** Text outside of tables, in reading order. */
  text: string;
  /** Cells of tables, as `header: value`. */
  cells: string[];
}

const words = (
  'harbour office permit boat eastern pier noon tide autumn storm warden rope anchor cargo ferry crew berth fee season ' +
  'winter summer engine repair quarter ledger notice sail mast keel deck cabin signal lantern market bridge canal river'
).split(' ');
const verbs =
  'issues checks carries closes opens repairs measures records stores moves counts signs sends keeps'.split(
    ' ',
  );
const names = 'Sigrun Frida Tove Nora Ingrid Astrid Maren Liv Solveig Runa Hilda Thora Greta Elin'.split(' ');
const heads = 'Boat Berth Fee Season Crew Port Cargo Length Owner Status'.split(' ');

/** Random numbers from a seed (mulberry32). */
class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed * 2_654_435_761;
  }

  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  }

  pick<Value>(list: readonly Value[]): Value {
    return list[this.below(list.length)]!;
  }

  sentence(): string {
    const rest = Array.from({ length: 3 + this.below(9) }, () => this.pick(words)).join(' ');
    const number = this.below(3) === 0 ? ` ${this.below(2000)}` : '';
    return `The ${this.pick(words)} ${this.pick(verbs)} the ${rest}${number}.`;
  }

  paragraph(sentences: number): string {
    return Array.from({ length: sentences }, () => this.sentence()).join(' ');
  }

  /** A value for a cell: a name, a number with a unit, a short text. */
  value(): string {
    const long = `${this.pick(words)} ${this.pick(words)} of the ${this.pick(words)} ${this.pick(words)}`;
    return this.pick([
      this.pick(names),
      `${this.below(900)} crowns`,
      `${this.pick(['A', 'B', 'C'])}${this.below(99)}`,
      String(this.below(5000)),
      long,
    ]);
  }
}

interface Content {
  body: string;
  text: string[];
  cells: string[];
}

/** A page from a seed: its words, sizes, fonts, widths and lengths differ. */
export function generatePage(seed: number): GeneratedPage {
  const random = new Random(seed);
  const kind = kinds[seed % kinds.length]!;
  const title = `${random.pick(heads)} ${random.pick(words)} ${1 + random.below(90)}`;
  const { body, text, cells } = builders[kind](random);
  const font = random.pick(['Liberation Serif', 'Liberation Sans', 'DejaVu Sans', 'DejaVu Serif']);
  const html =
    `<!doctype html><style>@page { size: A4; margin: ${15 + random.below(10)}mm } body { margin: 0; font: ` +
    `${9 + random.below(4)}pt '${font}'; text-align: ${random.pick(['left', 'justify'])} } h1 { font-size: 170% }` +
    `td, th { text-align: left; padding: ${1 + random.below(4)}px ${4 + random.below(8)}px; vertical-align: top }</style>` +
    `<h1>${title}</h1>${body}`;
  return { kind, html, text: [title, ...text].join(' '), cells };
}

const paragraphs = (list: readonly string[]) => list.map((text) => `<p>${text}</p>`).join('');

const builders: Readonly<Record<PageKind, (random: Random) => Content>> = {
  columns(random) {
    const text = Array.from({ length: 4 + random.below(4) }, () => random.paragraph(3 + random.below(4)));
    const gap = 16 + random.below(24);
    return {
      body: `<div style="columns: 2; column-gap: ${gap}px">${paragraphs(text)}</div>`,
      text,
      cells: [],
    };
  },
  ruled: (random) => tableContent(random, 'border: 1px solid'),
  unruled: (random) => tableContent(random, ''),
  merged(random) {
    const [first, second] = [random.paragraph(2), random.paragraph(2)];
    const years = ['2023', '2024'];
    const parts = ['Trips', 'Guests'];
    const cells: string[] = [];
    let rows = `<tr><th rowspan="2">Port</th>${years.map((year) => `<th colspan="2">${year}</th>`).join('')}</tr>`;
    rows += `<tr>${years.flatMap(() => parts.map((part) => `<th>${part}</th>`)).join('')}</tr>`;
    for (const name of names.slice(0, 4 + random.below(5))) {
      const values = years.flatMap((year) =>
        parts.map((part) => ({ head: `${year} ${part}`, value: String(random.below(900)) })),
      );
      rows += `<tr><td>${name}</td>${values.map(({ value }) => `<td>${value}</td>`).join('')}</tr>`;
      cells.push(`Port: ${name}`, ...values.map(({ head, value }) => `${head}: ${value}`));
    }
    const table = `<table style="border-collapse: collapse">${rows}</table>`.replaceAll(
      /<(t[hd])/g,
      '<$1 style="border: 1px solid"',
    );
    return { body: `<p>${first}</p>${table}<p>${second}</p>`, text: [first, second], cells };
  },
  footnotes(random) {
    const [first, second] = [random.paragraph(4), random.paragraph(4)];
    const note = random.sentence();
    const foot = `<div style="position: absolute; bottom: 0; font-size: 75%"><sup>1</sup> ${note}</div>`;
    return {
      body: `<p>${first}<sup>1</sup></p><p>${second}</p>${foot}`,
      text: [`${first}¹`, `¹ ${note}`, second],
      cells: [],
    };
  },
  form(random) {
    const fields = heads.slice(0, 4 + random.below(4)).map((label) => [label, random.value()] as const);
    const body = fields.map(
      ([label, value]) => `<p>${label}: <span style="border-bottom: 1px solid">${value}</span></p>`,
    );
    return { body: body.join(''), text: fields.map(([label, value]) => `${label}: ${value}`), cells: [] };
  },
  rotated(random) {
    const text = Array.from({ length: 3 }, () => random.paragraph(3));
    const side = 'position: absolute; top: 0; left: 0; writing-mode: vertical-rl; height: 900px';
    return {
      body: `<div style="${side}">${paragraphs(text)}</div>`.replace('<div', '<div lang="en"'),
      text,
      cells: [],
    };
  },
};

function tableContent(random: Random, border: string): Content {
  const [first, second] = [random.paragraph(2), random.paragraph(2)];
  const columns = heads.slice(random.below(4)).slice(0, 3 + random.below(3));
  const cells: string[] = [];
  let rows = `<tr>${columns.map((head) => `<th>${head}</th>`).join('')}</tr>`;
  for (let row = 0; row < 4 + random.below(12); row += 1) {
    const values = columns.map(() => random.value());
    rows += `<tr>${values.map((value) => `<td>${value}</td>`).join('')}</tr>`;
    cells.push(...values.map((value, index) => `${columns[index]}: ${value}`));
  }
  const style = border ? `<$1 style="${border}"` : '<$1';
  const table = `<table style="border-collapse: collapse">${rows}</table>`.replaceAll(/<(t[hd])/g, style);
  return { body: `<p>${first}</p>${table}<p>${second}</p>`, text: [first, second], cells };
}
