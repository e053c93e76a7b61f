import { cell, number, numberOf, pad, refusal, rows, uniqueName, type Domain } from '../generator.js';

/** A German list of tools in stock. */
export const bestand: Domain = {
  about: 'Lagerliste Werkzeuge lagerliste',
  columns: {
    Artikel: uniqueName(
      ['Hammer', 'Säge', 'Bohrer', 'Zange', 'Leiter', 'Feile'],
      [
        'Alpha',
        'Beta',
        'Gamma',
        'Delta',
        'Omega',
        'Sigma',
        'Kappa',
        'Lambda',
        'Rho',
        'Tau',
        'Iota',
        'Eta',
        'Zeta',
        'Theta',
        'Phi',
        'Chi',
        'Psi',
        'Pi',
        'My',
        'Ny',
      ],
    ),
    Preis: (random) =>
      `${random.pick(['', '', '1.'])}${random.int(100, 999)},${random.pick(['00', '50', '95'])} €`,
    Bestand: (random) => String(random.int(0, 40)),
    Lieferant: (random) => random.pick(['Huber', 'Steiner', 'Winkler']),
    Lagerort: (random) => random.pick(['Halle A', 'Halle B', 'Keller']),
    Geliefert: (random) => `${pad(random.int(1, 28))}.${pad(random.int(1, 12))}.2024`,
  },
  questions: {
    cell: (table) => {
      const name = table.some('Artikel');
      return {
        ask: [
          `Was kostet ${name}?`,
          `Wie viel kostet der Artikel ${name}?`,
          `Wie hoch ist der Preis von ${name}?`,
        ],
        expect: cell(table.cell(table.is('Artikel', name)[0]!, 'Preis')),
      };
    },
    rows: (table) => {
      const supplier = table.some('Lieferant');
      return {
        ask: [`Welche Artikel liefert ${supplier}?`, `Welche Artikel sind von ${supplier}?`],
        expect: rows(table.is('Lieferant', supplier)),
      };
    },
    'rows not': (table) => {
      const supplier = table.some('Lieferant');
      return {
        ask: [`Welche Artikel sind nicht von ${supplier}?`, `Welche Artikel liefert ${supplier} nicht?`],
        expect: rows(table.where((row) => row['Lieferant'] !== supplier)),
      };
    },
    'rows less': (table) => ({
      ask: ['Welche Artikel kosten weniger als 500 Euro?', 'Welche Artikel kosten unter 500 €?'],
      expect: rows(table.where((row) => numberOf(row['Preis']!) < 500)),
    }),
    count: (table) => {
      const place = table.some('Lagerort');
      return {
        ask: [`Wie viele Artikel sind in ${place}?`, `Wie viele Artikel liegen in ${place}?`],
        expect: number(table.is('Lagerort', place).length),
      };
    },
    sum: (table) => ({
      ask: ['Wie hoch ist der gesamte Bestand?', 'Was ist die Summe der Bestände?'],
      expect: number(table.sum('Bestand')),
    }),
    max: (table) => ({
      ask: [
        'Welcher Artikel ist der teuerste?',
        'Welcher Artikel ist am teuersten?',
        'Was ist der teuerste Artikel?',
      ],
      expect: rows(table.best('Preis', 'max')),
    }),
    min: (table) => ({
      ask: ['Welcher Artikel ist am günstigsten?', 'Welcher Artikel ist der billigste?'],
      expect: rows(table.best('Preis', 'min')),
    }),
    unknown: () => ({
      ask: [
        'Was kostet der Schraubstock?',
        'Welche Artikel sind gefährlich?',
        'Wer hat die Leiter erfunden?',
      ],
      expect: refusal,
    }),
  },
};
