import { describe, expect, it } from 'vitest';
import { answerFromTables } from './answer-from-tables.js';
import type { TableSource } from './cells/table.js';

function source(about: string, head: string, ...lines: string[]): TableSource {
  const names = head.split(' | ');
  const rows = lines.map((line) =>
    line
      .split(' | ')
      .flatMap((cell, at) => (cell.trim() === '' ? [] : [`${names[at]}: ${cell.trim()}`]))
      .join('; '),
  );
  return { about, rows, isWhole: true };
}

const plans = source(
  'Service plans 2026',
  'Plan | Price per year | Spare parts included | Weekend service | Response time',
  'Basic | 49 € | no | no | 5 days',
  'Comfort | 99 € | yes | no | 48 hours',
  'Premium | 179 € | yes | yes | 4 hours',
);
const orders = source(
  'Orders 2026',
  'Order | Date | Customer | Amount EUR | Status',
  'O-1 | 2026-01-05 | Hotel Amsel | 120.00 | paid',
  'O-2 | 2026-01-15 | Weingut Moser | 80.50 | open',
  'O-3 | 2026-02-03 | Hotel Amsel | 300.00 | cancelled',
  'O-4 | 2026-02-20 | Camping Auwald | 45.00 | paid',
  'O-5 | 2026-03-11 | Strandbad Orth | 1,299.00 | open',
  'O-6 | 2026-03-12 | Hotel Amsel | 60.00 | shipped',
);
const rivers = source(
  'Rivers of Europe',
  'River | Country | Length km | Discharge (m³/s) | Source | Navigable',
  'Danube | Germany | 2,850 | 6,500 | Black Forest | yes',
  'Loire | France | 1,006 | 835 | Massif Central | partly',
  'Rhine | Switzerland | 1,233 | 2,900 | Alps | yes',
  'Seine | France | 777 | 560 | Langres | yes',
  'Tagus | Spain | 1,007 | 500 | Sierra de Albarracín | no',
);

const parts = source(
  'Spare parts',
  'Part | Fits | Price EUR | In stock',
  'Blade | K1, K1 Plus | 18.90 | 40',
  'Wheel | K1 | 24.50 | 7',
  'Wide wheel | K1 Plus | 29.00 | 0',
  'Cable | K1, K1 Plus | 22.00 | 3',
);
const usage = source(
  'Usage 2025',
  'Month | Site | kWh | Cost EUR',
  'January | Mill | 400 | 90.00',
  'January | Yard | 950 | 210.00',
  'April | Mill | 300 | 70.00',
  'April | Yard | 500 | 110.00',
);
const classes = source(
  'Classes',
  'Class | Teacher | Places | Booked | Hall floor m²',
  'Pottery | Ines Molnar | 10 | 10 | 40',
  'Yoga | Priya Nair | 18 | 12 | 90',
  'Choir | Leah Brandt | 60 | 41 | 200',
  'Bookkeeping | Sam Whitlow | 14 | 3 | 30',
);
const codes = source(
  'Errors',
  'status | code | meaning',
  '402 | no_credit | the account has no credit left',
  '404 | unknown | there is no such thing',
  '409 | twice | it was done before',
);
const water = source(
  'Water quality',
  'place | date | E. coli /100 ml | temperature °C',
  'jetty | 2026-02-03 | 40 | 3.1',
  'slipway | 2026-02-17 | 540 | 3.0',
  'slipway | 2026-02-03 | 210 | 3.3',
);
const regale = source(
  'Preisliste',
  'Artikel | Holz | Preis in Euro',
  'Regal | Kiefer | 690,00',
  'Regal | Nussbaum | 1.350,00',
  'Tisch | Eiche | 1.890,00',
  'Hocker | Buche | 145,00',
);

const valueOf = (question: string, ...tables: TableSource[]) => answerFromTables(question, tables)?.value;

describe('answerFromTables', () => {
  it.each([
    ['How many parts fit the K1 Plus?', parts, '3'],
    ['Which parts fit the K1?', parts, 'Blade, Wheel, Cable'],
    ['What is the second most expensive part?', parts, 'Wheel'],
    ['Which part is the third cheapest?', parts, 'Wheel'],
    ['Top 3 most expensive parts', parts, 'Wide wheel, Wheel, Cable'],
    ['What is the median price of the parts?', parts, '23.25'],
    ['What is the second longest river?', rivers, 'Rhine'],
    ['What percentage of the rivers is navigable?', rivers, '60 %'],
    ['What percentage of orders was cancelled?', orders, '16.7 %'],
    ['How many kWh did the mill use in April?', usage, '300'],
    ['How much energy did the yard use in total?', usage, '1450'],
    ['What does status 402 mean?', codes, 'the account has no credit left'],
    ['What is the average hall floor size?', classes, '90'],
    ['What was the highest E. coli value?', water, 'slipway'],
    ['Was kostet ein Regal aus Nussbaum?', regale, '1.350,00'],
    ['Welcher Artikel ist der zweitteuerste?', regale, 'Regal'],
  ])('reads lists in cells, ranks, medians, shares, months as names: %s', (question, table, value) => {
    expect(valueOf(question, table)).toBe(value);
  });

  it.each([
    ['How many places are left in Yoga?', classes],
    ['How many wheels does it have?', parts],
    ['In which month did the mill use the least water?', usage],
    ['What percentage of the booked parts fits the K1 and costs 20 euros?', parts],
  ])('does not guess: %s', (question, table) => {
    expect(valueOf(question, table)).toBeUndefined();
  });

  it.each([
    ['What is the response time of Comfort?', '48 hours'],
    ['How much is Premium per year?', '179 €'],
    ['Which plan has the shortest response time?', 'Premium'],
    ['Which plan responds within 4 hours?', 'Premium'],
    ['Which plan is the cheapest with spare parts?', 'Comfort'],
    ['How much cheaper is Comfort than Premium?', '80 €'],
    ['Which is more expensive, Basic or Premium?', 'Premium'],
    ['Is Comfort cheaper than Premium?', 'Yes'],
    ['Which plans cost more than 50 euros a year?', 'Comfort, Premium'],
  ])('looks up, orders and compares: %s', (question, value) => {
    expect(valueOf(question, plans)).toBe(value);
  });

  it.each([
    ['How many orders were cancelled?', '1'],
    ['What is the total amount of open orders?', '1379.50'],
    ['What is the average order amount?', '317.42'],
    ['How much did Hotel Amsel spend in total?', '480.00'],
    ['Who placed the largest order?', 'Strandbad Orth'],
    ['Which customer has the most orders?', 'Hotel Amsel (3)'],
    ['Which orders were placed in February?', 'O-3, O-4'],
    ['Which was the first order in March?', 'O-5'],
    ['Which orders were made after 1 February 2026 and before 12 March 2026?', 'O-3, O-4, O-5'],
    ['Show the three largest orders', 'O-5, O-3, O-1'],
    ['How many customers are there?', '4'],
    ['Which orders from Hotel Amsel are open?', 'None'],
  ])('counts, sums and filters: %s', (question, value) => {
    expect(valueOf(question, orders)).toBe(value);
  });

  it.each([
    [plans, 'Which service plan does not include spare parts?', 'Basic'],
    [plans, 'Which plan does NOT have weekend service?', 'Basic, Comfort'],
    [plans, 'Which plans have neither spare parts nor weekend service?', 'Basic'],
    [plans, 'Which plans offer spare parts but no weekend service?', 'Comfort'],
    [plans, 'Is weekend service included in Comfort?', 'No'],
    [plans, 'Do all plans include spare parts?', 'No'],
    [plans, 'Is there weekend service in Comfort?', 'No'],
    [orders, 'Which orders are unpaid?', 'O-2, O-3, O-5, O-6'],
    [orders, 'Which orders are neither paid nor cancelled?', 'O-2, O-5, O-6'],
    [orders, 'Which orders did not come from Hotel Amsel?', 'O-2, O-4, O-5'],
    [orders, 'Which customers did not cancel?', 'Weingut Moser, Camping Auwald, Strandbad Orth'],
    [orders, 'Which orders cost no more than 60 euros?', 'O-4, O-6'],
    [rivers, 'Which rivers are not navigable?', 'Tagus'],
    [rivers, 'Which rivers do not flow through Spain or France?', 'Danube, Rhine'],
  ])('negates by value: %#', (table, question, value) => {
    expect(valueOf(question, table)).toBe(value);
  });

  it.each([
    ['How long is the Rhine?', '1,233'],
    ['How much longer is the Danube than the Rhine?', '1617'],
    ['Which rivers are longer than the Loire?', 'Danube, Rhine, Tagus'],
    ['Which river has the highest discharge?', 'Danube'],
    ['Which is longer, the Loire or the Rhine?', 'Rhine'],
    ['How many navigable rivers are there?', '3'],
    ['Which rivers have a length over 1,000 kilometres?', 'Danube, Loire, Rhine, Tagus'],
    ['What is the combined length of the Loire and the Seine?', '1783'],
  ])('reads units and names: %s', (question, value) => {
    expect(valueOf(question, rivers)).toBe(value);
  });

  it.each([
    [plans, 'What does Platinum cost?'],
    [plans, 'Which plan would you recommend?'],
    [plans, 'Can I cancel the Basic plan?'],
    [plans, 'What happens if spare parts are included?'],
    [plans, 'What does it cost?'],
    [orders, 'Which orders have the same date?'],
    [plans, 'What was the price of Basic before?'],
    [orders, 'Who is our best customer?'],
    [rivers, 'Which river is deeper, the Rhine or the Seine?'],
    [rivers, 'Who discovered the Danube?'],
    [rivers, 'What is the length of the Thames?'],
    [rivers, 'Why is the Tagus not navigable?'],
  ])('leaves alone what the table does not say: %#', (table, question) => {
    expect(valueOf(question, table)).toBeUndefined();
  });

  it('shows the value first, then the rows, and cites them', () => {
    const answer = answerFromTables('Which orders are open?', [plans, orders])!;
    expect(answer.table).toBe(1);
    expect(answer.rows).toEqual([1, 4]);
    expect(answer.text).toBe(
      [
        '**O-2, O-5** – 2 of 6 rows where Status: open.',
        '',
        '| Order | Date | Status |',
        '| --- | --- | --- |',
        '| O-2 | 2026-01-15 | open |',
        '| O-5 | 2026-03-11 | open |',
      ].join('\n'),
    );
  });

  it('says that it knows only a part of the table, unless one cell answers', () => {
    const part = { ...orders, isWhole: false };
    const count = answerFromTables('How many orders are open?', [part])!;
    expect(count.isPartial).toBe(true);
    expect(count.text).toContain('only the 6 rows that were found are considered');
    const cell = answerFromTables('What is the status of O-2?', [part])!;
    expect(cell.isPartial).toBe(false);
    expect(cell.value).toBe('open');
    expect(answerFromTables('Which orders of Strandbad Orth are paid?', [part])).toBeUndefined();
  });

  it('says how many rows it leaves out', () => {
    const many = {
      ...orders,
      rows: Array.from(
        { length: 30 },
        (_row, index) => `Order: O-${index}; Status: open; Customer: Hotel ${index}`,
      ),
    };
    expect(answerFromTables('Which orders are open?', [many])!.text).toMatch(
      /\*\*30\*\*|and 18 more.*\n[^]*and 22 more/,
    );
  });

  it('does not add up different currencies, or percentages', () => {
    const fees = source('Fees', 'Item | Fee', 'A | 10 €', 'B | 12 $', 'C | 3 €');
    expect(valueOf('What is the total fee?', fees)).toBeUndefined();
    const shares = source('Shares', 'Item | Share', 'A | 10 %', 'B | 12 %', 'C | 3 %');
    expect(valueOf('What is the sum of the shares?', shares)).toBeUndefined();
  });

  it('answers in German', () => {
    const list = source(
      'Lager',
      'Artikel | Preis | Bestand | Lieferant',
      'Säge | 1.420,50 € | 12 | Huber',
      'Hammer | 120,00 € | 0 | Steiner',
      'Zange | 99,90 € | 5 | Huber',
    );
    expect(valueOf('Was kostet die Säge?', list)).toBe('1.420,50 €');
    expect(valueOf('Welcher Artikel ist am günstigsten?', list)).toBe('Zange');
    expect(valueOf('Welche Artikel sind nicht von Huber?', list)).toBe('Hammer');
    expect(answerFromTables('Wie viele Artikel liefert Huber?', [list])!.text).toContain(
      '**2** – 2 von 3 Zeilen mit Lieferant: Huber',
    );
  });
});

describe('two columns of a table', () => {
  const stock = source(
    'Stock of the kiosk',
    'Item | Price EUR | In stock | Reorder level | Supplier',
    'Pencil | 1.20 | 12 | 40 | Farber',
    'Eraser | 0.90 | 55 | 20 | Farber',
    'Ruler | 2.40 | 8 | 8 | Linea',
    'Stapler | 9.00 | 3 | 5 | Linea',
  );
  const budget = source(
    'Budget of the play',
    'Item | Planned EUR | Spent EUR | Responsible',
    'Costumes | 400 | 520 | Ada',
    'Lights | 900 | 900 | Ben',
    'Posters | 150 | 90 | Ada',
  );
  it.each([
    ['Which items are below their reorder level?', stock, 'Pencil, Stapler'],
    ['How many items are under the reorder level?', stock, '2'],
    ['Which items have more in stock than their reorder level?', stock, 'Eraser'],
    ['What do I have to reorder?', stock, 'Pencil, Ruler, Stapler'],
    ['Which items of Linea must be reordered?', stock, 'Ruler, Stapler'],
    ['Which items are not below the reorder level?', stock, 'Eraser, Ruler'],
    ['What is the reorder level of the eraser?', stock, '20'],
    ['Which items cost more than planned?', budget, 'Costumes'],
    ['Which items were more expensive than planned?', budget, 'Costumes'],
    ['On which items did we spend less than planned?', budget, 'Posters'],
    ['Which items were cheaper than planned?', budget, 'Posters'],
    ['Which of the items of Ada cost more than planned?', budget, 'Costumes'],
  ])('%s', (question, table, expected) => {
    expect(answerFromTables(question, [table])?.value).toBe(expected);
  });
});
