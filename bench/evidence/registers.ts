import { drawFrom, type Draw } from './draw.js';

/** A table of more than 200 rows. Its first column names the row. */
export interface Register {
  readonly name: string;
  readonly format: 'csv' | 'xlsx' | 'md';
  /** The text above a table in Markdown, or the name of the sheet. */
  readonly preface: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

const days = (draw: Draw, year: number) =>
  `${year}-${String(draw.integer(1, 12)).padStart(2, '0')}-${String(draw.integer(1, 28)).padStart(2, '0')}`;

const rowsOf = (count: number, make: (index: number) => (string | number)[]) =>
  Array.from({ length: count }, (_unused, index) => make(index).map(String));

/** The registers by their short names; always the same. */
export function registers(): Record<'trees' | 'instruments' | 'orders' | 'works', Register> {
  return { trees: trees(), instruments: instruments(), orders: orders(), works: works() };
}

/** Trees of a town. */
function trees(): Register {
  const draw = drawFrom(101);
  const kinds = [
    'small-leaved lime',
    'field maple',
    'hornbeam',
    'sweet chestnut',
    'wild service tree',
    'ginkgo',
    'silver birch',
  ];
  const streets = [
    'Abbey Walk',
    'Bakehouse Lane',
    'Corn Street',
    'Dyers Row',
    'Friary Road',
    'Gull Terrace',
    'Hatters Green',
  ];
  return {
    name: 'tree-register-2024.md',
    format: 'md',
    preface:
      '# Tree register of Ossington 2024\n\nThe gardeners look at each street tree once a year. Health goes from 1 (very good) to 5 (dying). A tree with a 5 is felled before the next winter.',
    columns: ['Tree', 'Species', 'Street', 'Planted', 'Girth cm', 'Health', 'Inspector'],
    rows: rowsOf(232, (index) => [
      `OT-${1001 + index}`,
      draw.pick(kinds),
      draw.pick(streets),
      draw.integer(1921, 2019),
      draw.integer(31, 288),
      draw.pick([1, 1, 2, 2, 2, 3, 3, 4, 5]),
      draw.pick(['Petra Voss', 'Callum Reid', 'Amira Doyle']),
    ]),
  };
}

/** Instruments that a music school lends. */
function instruments(): Register {
  const draw = drawFrom(102);
  const kinds = [
    'violin',
    'viola',
    'cello',
    'clarinet',
    'oboe',
    'trumpet',
    'French horn',
    'accordion',
    'guitar',
  ];
  const makers = ['Lindholm', 'Arcelli', 'Bergquist', 'Hopkins & Lee', 'Tanaka'];
  return {
    name: 'instruments.xlsx',
    format: 'xlsx',
    preface: 'Instruments',
    columns: ['Inventory', 'Instrument', 'Maker', 'Size', 'Bought', 'Value EUR', 'State', 'Lent to'],
    rows: rowsOf(216, (index) => {
      const isLent = draw.integer(0, 9) < 6;
      return [
        `MS-${401 + index}`,
        draw.pick(kinds),
        draw.pick(makers),
        draw.pick(['1/4', '1/2', '3/4', '4/4']),
        draw.integer(1988, 2024),
        draw.integer(140, 6900),
        isLent ? 'lent' : draw.pick(['in store', 'in store', 'in repair', 'missing']),
        isLent
          ? `${draw.pick(['Ada', 'Bo', 'Cem', 'Dora', 'Eli', 'Finn', 'Gwen'])} ${draw.pick(['Abel', 'Brooks', 'Castellan', 'Dunne', 'Eriksen', 'Fofana', 'Grau'])}`
          : '–',
      ];
    }),
  };
}

/** Orders of a wholesaler for tea. */
function orders(): Register {
  const draw = drawFrom(103);
  const goods = [
    'Assam FTGFOP',
    'Darjeeling first flush',
    'Sencha',
    'Gunpowder',
    'Rooibos',
    'Earl Grey',
    'Lapsang Souchong',
  ];
  const clients = [
    'Café Mirabel',
    'Hotel Anker',
    'Teehaus Brandt',
    'Green Leaf Ltd',
    'Kantine Nord',
    'Maison Perrin',
  ];
  return {
    name: 'tea-orders-2024.csv',
    format: 'csv',
    preface: '',
    columns: ['Order', 'Date', 'Client', 'Goods', 'Kilograms', 'Total EUR', 'Status'],
    rows: rowsOf(248, (index) => {
      const kilograms = draw.integer(5, 180);
      return [
        `TO-${7001 + index}`,
        days(draw, 2024),
        draw.pick(clients),
        draw.pick(goods),
        kilograms,
        (kilograms * draw.integer(9, 64)).toFixed(2),
        draw.pick(['paid', 'paid', 'paid', 'paid', 'open', 'reminded', 'cancelled']),
      ];
    }),
  };
}

/** Works of a museum. */
function works(): Register {
  const draw = drawFrom(104);
  const first = ['Still life', 'Portrait', 'Harbour', 'Study', 'Landscape', 'Interior', 'Night piece'];
  const second = [
    'with lemons',
    'of a lady',
    'at dawn',
    'in grey',
    'near Velm',
    'with two dogs',
    'after rain',
    'of a miller',
  ];
  return {
    name: 'museum-inventory.csv',
    format: 'csv',
    preface: '',
    columns: ['Number', 'Title', 'Artist', 'Year', 'Technique', 'Room', 'Insured EUR'],
    rows: rowsOf(224, (index) => [
      `MV ${2201 + index}`,
      `${draw.pick(first)} ${draw.pick(second)}`,
      draw.pick(['H. van Rooy', 'Clara Eisen', 'J. M. Tolland', 'unknown', 'Ottavio Serra', 'Anna Lund']),
      draw.integer(1680, 1931),
      draw.pick(['oil on canvas', 'oil on wood', 'watercolour', 'etching', 'chalk']),
      draw.pick(['Hall', 'Blue room', 'Tower', 'Depot 1', 'Depot 2', 'On loan']),
      draw.integer(4, 950) * 100,
    ]),
  };
}
