import { cell, dateBetween, number, refusal, rows, uniqueName, yesNo, type Domain } from '../generator.js';

/** Players of football clubs. */
export const players: Domain = {
  about: 'Squad of the season players',
  columns: {
    Player: uniqueName(
      ['Aron', 'Bela', 'Cyril', 'Dino', 'Emre', 'Filip', 'Gabor', 'Henk', 'Igor', 'Jonas'],
      [
        'Abel',
        'Brandt',
        'Cerny',
        'Dvorak',
        'Ekström',
        'Farkas',
        'Gross',
        'Horvat',
        'Ibsen',
        'Jovic',
        'Kovac',
        'Lind',
      ],
    ),
    Club: (random) => random.pick(['SV Lohne', 'FC Ansen', 'TSV Ried']),
    Nationality: (random) => random.pick(['Hungary', 'Croatia', 'Norway', 'Czechia']),
    Goals: (random) => String(random.int(0, 31)),
    'Height in cm': (random) => String(random.int(165, 203)),
    'Date of birth': dateBetween(1985, 2005),
    Injured: (random) => random.pick(['yes', 'no', 'no']),
  },
  questions: {
    cell: (table) => {
      const player = table.some('Player');
      return {
        ask: [
          `How many goals did ${player} score?`,
          `How many goals has ${player} scored?`,
          `goals of ${player}`,
        ],
        expect: cell(table.cell(table.is('Player', player)[0]!, 'Goals')),
      };
    },
    tall: (table) => {
      const player = table.some('Player');
      return {
        ask: [`How tall is ${player}?`, `What is the height of ${player}?`],
        expect: cell(table.cell(table.is('Player', player)[0]!, 'Height in cm')),
      };
    },
    born: (table) => {
      const player = table.some('Player');
      return {
        ask: [`When was ${player} born?`, `What is the date of birth of ${player}?`],
        expect: cell(table.cell(table.is('Player', player)[0]!, 'Date of birth')),
      };
    },
    club: (table) => {
      const player = table.some('Player');
      return {
        ask: [`Which club does ${player} play for?`, `What is the club of ${player}?`],
        expect: cell(table.cell(table.is('Player', player)[0]!, 'Club')),
      };
    },
    rows: (table) => {
      const club = table.some('Club');
      return {
        ask: [`Who plays for ${club}?`, `Which players play for ${club}?`, `players of ${club}`],
        expect: rows(table.is('Club', club)),
      };
    },
    'rows not': (table) => {
      const country = table.some('Nationality');
      return {
        ask: [`Which players are not from ${country}?`, `Which players do not come from ${country}?`],
        expect: rows(table.where((row) => row['Nationality'] !== country)),
      };
    },
    'rows more': (table) => ({
      ask: [
        'Which players have scored more than 20 goals?',
        'Who has more than 20 goals?',
        'Which players have over 20 goals?',
      ],
      expect: rows(table.where((row) => Number(row['Goals']) > 20)),
    }),
    'rows taller': (table) => ({
      ask: ['Which players are taller than 190 cm?', 'Who is taller than 190 cm?'],
      expect: rows(table.where((row) => Number(row['Height in cm']) > 190)),
    }),
    'rows not injured': (table) => ({
      ask: ['Which players are not injured?', 'Who is not injured?'],
      expect: rows(table.is('Injured', 'no')),
    }),
    'rows born': (table) => ({
      ask: ['Which players were born after 1999?', 'Who was born after 1999?'],
      expect: rows(table.where((row) => row['Date of birth']! >= '2000')),
    }),
    count: (table) => {
      const country = table.some('Nationality');
      return {
        ask: [`How many players are from ${country}?`, `How many players come from ${country}?`],
        expect: number(table.is('Nationality', country).length),
      };
    },
    'count injured': (table) => ({
      ask: ['How many players are injured?', 'How many injured players are there?'],
      expect: number(table.is('Injured', 'yes').length),
    }),
    sum: (table) => {
      const club = table.some('Club');
      return {
        ask: [
          `How many goals did the players of ${club} score in total?`,
          `What is the total number of goals of ${club}?`,
          `How many goals has ${club} scored altogether?`,
        ],
        expect: number(table.sum('Goals', table.is('Club', club))),
      };
    },
    max: (table) => ({
      ask: ['Who scored the most goals?', 'Which player has the most goals?', 'Who has the most goals?'],
      expect: rows(table.best('Goals', 'max')),
    }),
    tallest: (table) => ({
      ask: ['Who is the tallest player?', 'Which player is the tallest?', 'Who is the tallest?'],
      expect: rows(table.best('Height in cm', 'max')),
    }),
    oldest: (table) => ({
      ask: ['Who is the oldest player?', 'Which player is the oldest?'],
      expect: rows(table.best('Date of birth', 'min')),
    }),
    youngest: (table) => ({
      ask: ['Who is the youngest player?', 'Which player is the youngest?'],
      expect: rows(table.best('Date of birth', 'max')),
    }),
    fewest: (table) => ({
      ask: ['Which player has the fewest goals?', 'Who scored the fewest goals?'],
      expect: rows(table.best('Goals', 'min')),
    }),
    compare: (table) => {
      const [one, two] = table.pair();
      if (table.cell(one, 'Height in cm') === table.cell(two, 'Height in cm')) return undefined;
      return {
        ask: [
          `Who is taller, ${table.cell(one, 'Player')} or ${table.cell(two, 'Player')}?`,
          `Which player is taller, ${table.cell(one, 'Player')} or ${table.cell(two, 'Player')}?`,
        ],
        expect: rows(table.best('Height in cm', 'max', [one, two])),
      };
    },
    'yes-no': (table) => {
      const player = table.some('Player');
      return {
        ask: [`Is ${player} injured?`],
        expect: yesNo(table.cell(table.is('Player', player)[0]!, 'Injured') === 'yes'),
      };
    },
    unknown: () => ({
      ask: [
        'Who is the coach?',
        'Which players earn more than 1000 euros?',
        'Who won the cup in 2022?',
        'Which player is married?',
        'How long is a match?',
      ],
      expect: refusal,
    }),
  },
};
