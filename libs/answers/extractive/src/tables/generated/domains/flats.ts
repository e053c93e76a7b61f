import { cell, dateBetween, number, numberOf, refusal, rows, yesNo, type Domain } from '../generator.js';

/** Flats to let. */
export const flats: Domain = {
  about: 'Flats to let, spring 2026 flats',
  columns: {
    Flat: (_random, row) => `W${10 + row}`,
    District: (random) => random.pick(['Altstadt', 'Nordend', 'Hafen', 'Westpark']),
    Rooms: (random) => String(random.int(1, 6)),
    'Size (m²)': (random) => String(random.int(24, 160)),
    'Monthly rent': (random) => `€${random.pick(['', '1,'])}${random.int(400, 999)}`,
    Balcony: (random) => random.pick(['yes', 'no']),
    Floor: (random) => String(random.int(0, 9)),
    'Available from': dateBetween(2026, 2026),
    Landlord: (random) => random.pick(['Wohnbau Nord', 'Familie Ott', 'Stadtwerk']),
  },
  questions: {
    cell: (table) => {
      const flat = table.some('Flat');
      return {
        ask: [`What is the monthly rent of ${flat}?`, `What's the rent for flat ${flat}?`, `rent ${flat}`],
        expect: cell(table.cell(table.is('Flat', flat)[0]!, 'Monthly rent')),
      };
    },
    'cell how many': (table) => {
      const flat = table.some('Flat');
      return {
        ask: [`How many rooms does ${flat} have?`, `How many rooms are in flat ${flat}?`],
        expect: cell(table.cell(table.is('Flat', flat)[0]!, 'Rooms')),
      };
    },
    'cell who': (table) => {
      const flat = table.some('Flat');
      return {
        ask: [`Who is the landlord of ${flat}?`, `Which landlord does ${flat} belong to?`],
        expect: cell(table.cell(table.is('Flat', flat)[0]!, 'Landlord')),
      };
    },
    rows: (table) => {
      const district = table.some('District');
      return {
        ask: [
          `Which flats are in ${district}?`,
          `Show all flats in the district ${district}`,
          `What flats are there in ${district}?`,
        ],
        expect: rows(table.is('District', district)),
      };
    },
    'rows rent': (table) => ({
      ask: [
        'Which flats have a rent under 900 euros?',
        'Which flats cost less than 900 € a month?',
        'Which flats have a monthly rent of less than 900 euros?',
      ],
      expect: rows(table.where((row) => numberOf(row['Monthly rent']!) < 900)),
    }),
    'rows rooms': (table) => ({
      ask: [
        'Which flats have at least four rooms?',
        'Which flats have four rooms or more?',
        'List the flats with 4 or more rooms',
      ],
      expect: rows(table.where((row) => Number(row['Rooms']) >= 4)),
    }),
    'rows flag': (table) => ({
      ask: ['Which flats have a balcony?', 'Flats with a balcony', 'List every flat with balcony'],
      expect: rows(table.is('Balcony', 'yes')),
    }),
    'rows no flag': (table) => ({
      ask: [
        'Which flats do not have a balcony?',
        'Which flats lack a balcony?',
        "Which flats don't have a balcony?",
      ],
      expect: rows(table.is('Balcony', 'no')),
    }),
    'rows two': (table) => {
      const district = table.some('District');
      return {
        ask: [`Which flats in ${district} have a balcony?`, `Which flats with a balcony are in ${district}?`],
        expect: rows(table.where((row) => row['District'] === district && row['Balcony'] === 'yes')),
      };
    },
    'rows except': (table) => {
      const landlord = table.some('Landlord');
      return {
        ask: [
          `Which flats do not belong to ${landlord}?`,
          `All flats except those of ${landlord}`,
          `Which flats have a landlord other than ${landlord}?`,
        ],
        expect: rows(table.where((row) => row['Landlord'] !== landlord)),
      };
    },
    'rows date': (table) => ({
      ask: [
        'Which flats are available before 1 May 2026?',
        'Which flats are available from before May 2026?',
      ].slice(0, 1),
      expect: rows(table.where((row) => row['Available from']! < '2026-05-01')),
    }),
    count: (table) => ({
      ask: ['How many flats have a balcony?', 'How many of the flats have a balcony?'],
      expect: number(table.is('Balcony', 'yes').length),
    }),
    'count number': (table) => ({
      ask: ['How many flats have 3 rooms?', 'How many flats with exactly 3 rooms are there?'],
      expect: number(table.is('Rooms', '3').length),
    }),
    mean: (table) => ({
      ask: ['What is the average rent?', 'What is the mean size of the flats?'].slice(0, 1),
      expect: number(table.sum('Monthly rent') / table.rows.length),
    }),
    max: (table) => ({
      ask: ['Which flat is the largest?', 'What is the biggest flat?', 'Which flat has the largest size?'],
      expect: rows(table.best('Size (m²)', 'max')),
    }),
    min: (table) => ({
      ask: ['Which flat has the lowest rent?', 'Which flat is the cheapest?', 'cheapest flat'],
      expect: rows(table.best('Monthly rent', 'min')),
    }),
    compare: (table) => {
      const [one, two] = table.pair();
      if (table.cell(one, 'Size (m²)') === table.cell(two, 'Size (m²)')) return undefined;
      return {
        ask: [
          `Which flat is larger, ${table.cell(one, 'Flat')} or ${table.cell(two, 'Flat')}?`,
          `Is ${table.cell(one, 'Flat')} or ${table.cell(two, 'Flat')} bigger?`,
        ].slice(0, 1),
        expect: rows(table.best('Size (m²)', 'max', [one, two])),
      };
    },
    'yes-no': (table) => {
      const flat = table.some('Flat');
      return {
        ask: [`Does flat ${flat} have a balcony?`, `Is there a balcony in ${flat}?`],
        expect: yesNo(table.cell(table.is('Flat', flat)[0]!, 'Balcony') === 'yes'),
      };
    },
    unknown: () => ({
      ask: [
        'Which flats allow pets?',
        'What is the deposit for W11?',
        'Who lives in W12?',
        'Which flats are noisy?',
        'How do I apply for a flat?',
      ],
      expect: refusal,
    }),
  },
};
