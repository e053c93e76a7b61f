import { cell, number, refusal, rows, uniqueName, type Domain } from '../generator.js';

/** Training courses. */
export const courses: Domain = {
  about: 'Training courses, autumn 2025 training-courses',
  columns: {
    'No.': (_random, row) => `K${row + 1}`,
    Course: uniqueName(
      ['First aid', 'Forklift licence', 'Spreadsheets', 'Spanish', 'Difficult customers', 'Fire protection'],
      [
        'level A',
        'level B',
        'for beginners',
        'refresher',
        'online',
        'in depth',
        'level C',
        'weekend',
        'evening',
        'summer',
        'winter',
        'level D',
        'level E',
        'level F',
        'level G',
        'level H',
        'level I',
        'level J',
        'level K',
        'level L',
      ],
    ),
    Trainer: (random) => random.pick(['Ulf Brenner', 'Anneke Vos', 'Selim Uhl', 'Inma Ruiz']),
    Date: (random) => `${random.int(1, 28)} ${random.pick(['September', 'October', 'November'])} 2025`,
    Days: (random) => String(random.int(1, 5)),
    Places: (random) => String(random.int(6, 20)),
    Fee: (random) => `${random.int(0, 68) * 10} €`,
    Room: (random) => random.pick(['canteen', 'IT room', 'yard', 'meeting room 2']),
    Certificate: (random) => random.pick(['yes', 'no']),
  },
  questions: {
    cell: (table) => {
      const code = table.some('No.');
      return {
        ask: [`Who is the trainer of the course ${code}?`, `Who teaches ${code}?`, `trainer of ${code}`],
        expect: cell(table.cell(table.is('No.', code)[0]!, 'Trainer')),
      };
    },
    when: (table) => {
      const course = table.some('Course');
      return {
        ask: [`When is the course ${course}?`, `When does ${course} take place?`, `date of ${course}`],
        expect: cell(table.cell(table.is('Course', course)[0]!, 'Date')),
      };
    },
    where: (table) => {
      const code = table.some('No.');
      return {
        ask: [`Where is ${code} held?`, `In which room is ${code}?`, `Where does ${code} take place?`],
        expect: cell(table.cell(table.is('No.', code)[0]!, 'Room')),
      };
    },
    fee: (table) => {
      const course = table.some('Course');
      return {
        ask: [
          `How much does ${course} cost?`,
          `What is the fee for ${course}?`,
          `What is the price of the course ${course}?`,
        ],
        expect: cell(table.cell(table.is('Course', course)[0]!, 'Fee')),
      };
    },
    'how many': (table) => {
      const course = table.some('Course');
      return {
        ask: [`How many places does ${course} have?`, `How many places are there in ${course}?`],
        expect: cell(table.cell(table.is('Course', course)[0]!, 'Places')),
      };
    },
    rows: (table) => {
      const trainer = table.some('Trainer');
      return {
        ask: [
          `Which courses does ${trainer} give?`,
          `Which courses are taught by ${trainer}?`,
          `What courses does ${trainer} teach?`,
        ],
        expect: rows(table.is('Trainer', trainer)),
      };
    },
    'rows longer': (table) => ({
      ask: [
        'Which courses take more than 3 days?',
        'Which courses last longer than 3 days?',
        'Which courses last more than three days?',
      ],
      expect: rows(table.where((row) => Number(row['Days']) > 3)),
    }),
    'rows month': (table) => ({
      ask: [
        'Which courses take place in October?',
        'Which courses are in October 2025?',
        'What courses are there in October?',
      ],
      expect: rows(table.where((row) => row['Date']!.includes('October'))),
    }),
    'rows without': (table) => ({
      ask: [
        'Which courses have no certificate?',
        'Which courses are without a certificate?',
        'Which courses do not include a certificate?',
        'Courses without certificate',
      ],
      expect: rows(table.is('Certificate', 'no')),
    }),
    'rows at least': (table) => ({
      ask: [
        'Which courses have at least 12 places?',
        'Which courses have 12 or more places?',
        'Which courses have no fewer than 12 places?',
      ],
      expect: rows(table.where((row) => Number(row['Places']) >= 12)),
    }),
    'sum of': (table) => {
      const trainer = table.some('Trainer');
      return {
        ask: [
          `How many days does ${trainer} teach in total?`,
          `What is the total number of days of the courses by ${trainer}?`,
        ],
        expect: number(table.sum('Days', table.is('Trainer', trainer))),
      };
    },
    mean: (table) => ({
      ask: [
        'What is the average fee?',
        'How much do the courses cost on average?',
        'What is the mean fee of the courses?',
      ],
      expect: number(table.sum('Fee') / table.rows.length),
    }),
    max: (table) => ({
      ask: [
        'Which course is the most expensive?',
        'Which course has the highest fee?',
        'What is the most expensive course?',
      ],
      expect: rows(table.best('Fee', 'max')),
    }),
    longest: (table) => ({
      ask: [
        'Which course is the longest?',
        'Which course takes the longest?',
        'Which course has the most days?',
      ],
      expect: rows(table.best('Days', 'max')),
    }),
    'not in room': (table) => {
      const room = table.some('Room');
      return {
        ask: [
          `Which courses are not in the ${room}?`,
          `Which courses do not take place in the ${room}?`,
          `Which courses take place in a room other than the ${room}?`,
        ],
        expect: rows(table.where((row) => row['Room'] !== room)),
      };
    },
    'count or': (table) => {
      const [one, two] = ['Ulf Brenner', 'Selim Uhl'];
      return {
        ask: [
          `How many courses are taught by ${one} or ${two}?`,
          `How many courses do ${one} and ${two} give?`,
        ],
        expect: number(table.where((row) => row['Trainer'] === one || row['Trainer'] === two).length),
      };
    },
    group: (table) => {
      const most = table.commonest('Trainer');
      return most.length > 1
        ? undefined
        : {
            ask: [
              'Which trainer gives the most courses?',
              'Who gives the most courses?',
              'Which trainer has the most courses?',
            ],
            expect: { kind: 'value', value: most[0]! },
          };
    },
    unknown: () => ({
      ask: [
        'Who teaches Portuguese?',
        'Which courses are popular?',
        'How much does the cooking course cost?',
        'Why was the course cancelled?',
        'Which trainer lives in Linz?',
        'How do I register for a course?',
      ],
      expect: refusal,
    }),
  },
};
