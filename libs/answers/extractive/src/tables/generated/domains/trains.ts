import { cell, number, refusal, rows, type Domain } from '../generator.js';

/** A timetable. */
export const trains: Domain = {
  about: 'Connections from Harlow timetable',
  columns: {
    Train: (_random, row) => `RE ${2000 + 7 * row}`,
    Destination: (random) => random.pick(['Linden', 'Marbach', 'Neudorf', 'Osten']),
    Departure: (random, row) =>
      `${String(5 + (row % 18)).padStart(2, '0')}:${String(random.int(0, 59)).padStart(2, '0')}`,
    Duration: (random) => `${random.int(1, 5)} h ${random.int(1, 59)} min`,
    Fare: (random) => `${random.int(8, 95)}.${random.pick(['10', '50', '80'])} £`,
    Platform: (random) => String(random.int(1, 9)),
    Bicycles: (random) => random.pick(['yes', 'no']),
  },
  questions: {
    cell: (table) => {
      const train = table.some('Train');
      return {
        ask: [`When does ${train} depart?`, `When does ${train} leave?`, `departure of ${train}`],
        expect: cell(table.cell(table.is('Train', train)[0]!, 'Departure')),
      };
    },
    platform: (table) => {
      const train = table.some('Train');
      return {
        ask: [`Which platform does ${train} leave from?`, `What is the platform of ${train}?`],
        expect: cell(table.cell(table.is('Train', train)[0]!, 'Platform')),
      };
    },
    fare: (table) => {
      const train = table.some('Train');
      return {
        ask: [`How much does the train ${train} cost?`, `What is the fare of ${train}?`],
        expect: cell(table.cell(table.is('Train', train)[0]!, 'Fare')),
      };
    },
    rows: (table) => {
      const place = table.some('Destination');
      return {
        ask: [`Which trains go to ${place}?`, `List the trains to ${place}`, `trains to ${place}`],
        expect: rows(table.is('Destination', place)),
      };
    },
    'rows not': (table) => {
      const place = table.some('Destination');
      return {
        ask: [`Which trains do not go to ${place}?`, `Which trains don't go to ${place}?`],
        expect: rows(table.where((row) => row['Destination'] !== place)),
      };
    },
    'rows no bicycles': (table) => ({
      ask: [
        'Which trains do not take bicycles?',
        'Which trains carry no bicycles?',
        'trains without bicycles',
      ],
      expect: rows(table.is('Bicycles', 'no')),
    }),
    'rows after': (table) => ({
      ask: ['Which trains leave after 12:00?', 'Which trains depart after 12:00?'],
      expect: rows(table.where((row) => row['Departure']! > '12:00')),
    }),
    fastest: (table) => ({
      ask: [
        'Which train is the fastest?',
        'Which train has the shortest duration?',
        'What is the fastest train?',
      ],
      expect: rows(table.best('Duration', 'min')),
    }),
    'first to': (table) => {
      const place = table.some('Destination');
      return {
        ask: [
          `When does the first train to ${place} leave?`,
          `Which is the first train to ${place}?`,
          `What is the earliest train to ${place}?`,
        ],
        expect: rows(table.best('Departure', 'min', table.is('Destination', place))),
      };
    },
    last: (table) => ({
      ask: ['Which train leaves last?', 'What is the last train?'],
      expect: rows(table.best('Departure', 'max')),
    }),
    count: (table) => {
      const place = table.some('Destination');
      return {
        ask: [`How many trains go to ${place}?`, `How many trains to ${place} are there?`],
        expect: number(table.is('Destination', place).length),
      };
    },
    'cheapest to': (table) => {
      const place = table.some('Destination');
      return {
        ask: [
          `What is the cheapest train to ${place}?`,
          `Which train to ${place} is the cheapest?`,
          `Which train to ${place} has the lowest fare?`,
        ],
        expect: rows(table.best('Fare', 'min', table.is('Destination', place))),
      };
    },
    unknown: () => ({
      ask: [
        'Which trains go to Vienna?',
        'Is there a restaurant on RE 2007?',
        'Which trains are late?',
        'How do I buy a ticket?',
      ],
      expect: refusal,
    }),
  },
};
