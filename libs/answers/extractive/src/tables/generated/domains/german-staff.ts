import { cell, number, refusal, rows, uniqueName, type Domain } from '../generator.js';

/** A German list of employees. */
export const mitarbeiter: Domain = {
  about: 'Mitarbeiterliste personal',
  columns: {
    Name: uniqueName(
      ['Anna', 'Bernd', 'Carla', 'Dirk', 'Eva', 'Felix', 'Greta', 'Horst'],
      [
        'Maier',
        'Lang',
        'Kurz',
        'Wolf',
        'Stein',
        'Busch',
        'Roth',
        'Fink',
        'Haas',
        'Jung',
        'Kern',
        'Link',
        'Moser',
        'Noll',
        'Otto',
      ],
    ),
    Abteilung: (random) => random.pick(['Einkauf', 'Verkauf', 'Technik']),
    Standort: (random) => random.pick(['Graz', 'Linz', 'Wels']),
    Eintritt: (random) =>
      `${String(random.int(1, 28)).padStart(2, '0')}.${String(random.int(1, 12)).padStart(2, '0')}.${random.int(2005, 2024)}`,
    Gehalt: (random) => `${random.int(2, 5)}.${random.int(100, 999)},00 €`,
    Dienstwagen: (random) => random.pick(['ja', 'nein']),
  },
  questions: {
    cell: (table) => {
      const name = table.some('Name');
      return {
        ask: [`Wo arbeitet ${name}?`, `An welchem Standort arbeitet ${name}?`],
        expect: cell(table.cell(table.is('Name', name)[0]!, 'Standort')),
      };
    },
    rows: (table) => {
      const place = table.some('Standort');
      return {
        ask: [`Wer arbeitet in ${place}?`, `Welche Mitarbeiter arbeiten in ${place}?`],
        expect: rows(table.is('Standort', place)),
      };
    },
    'rows not': (table) => {
      const place = table.some('Standort');
      return {
        ask: [`Wer arbeitet nicht in ${place}?`, `Welche Mitarbeiter arbeiten nicht in ${place}?`],
        expect: rows(table.where((row) => row['Standort'] !== place)),
      };
    },
    'rows no flag': (table) => ({
      ask: ['Wer hat keinen Dienstwagen?', 'Welche Mitarbeiter haben keinen Dienstwagen?'],
      expect: rows(table.is('Dienstwagen', 'nein')),
    }),
    count: (table) => {
      const department = table.some('Abteilung');
      return {
        ask: [
          `Wie viele Mitarbeiter hat der ${department}?`,
          `Wie viele Personen arbeiten im ${department}?`,
        ],
        expect: number(table.is('Abteilung', department).length),
      };
    },
    mean: (table) => ({
      ask: ['Wie hoch ist das durchschnittliche Gehalt?', 'Was ist das Gehalt im Durchschnitt?'],
      expect: number(table.sum('Gehalt') / table.rows.length),
    }),
    max: (table) => ({
      ask: ['Wer hat das höchste Gehalt?', 'Welcher Mitarbeiter hat das höchste Gehalt?'],
      expect: rows(table.best('Gehalt', 'max')),
    }),
    unknown: () => ({
      ask: ['Wer ist krank?', 'Wer leitet die Firma?', 'Welche Mitarbeiter sind verheiratet?'],
      expect: refusal,
    }),
  },
};
