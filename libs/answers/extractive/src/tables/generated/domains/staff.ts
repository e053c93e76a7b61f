import { cell, dateBetween, number, refusal, rows, uniqueName, yesNo, type Domain } from '../generator.js';

const cities = ['Bergen', 'Oslo', 'Tromsø', 'Stavanger', 'Kristiansand'];
const firstNames = [
  'Ada',
  'Bruno',
  'Clara',
  'David',
  'Elif',
  'Frida',
  'Goran',
  'Hanna',
  'Ivo',
  'Jana',
  'Karim',
  'Lea',
];
const lastNames = ['Adler', 'Berg', 'Costa', 'Dahl', 'Egger', 'Falk', 'Gruber', 'Holm', 'Iversen', 'Jensen'];

/** A list of employees. */
export const staff: Domain = {
  about: 'Staff staff',
  columns: {
    Name: uniqueName(firstNames, lastNames),
    Department: (random) => random.pick(['Sales', 'Service', 'Warehouse', 'Accounting']),
    Position: (random) => random.pick(['Technician', 'Clerk', 'Driver', 'Head of unit']),
    City: (random) => random.pick(cities),
    Start: dateBetween(2008, 2024),
    Hours: (random) => random.pick(['38.5', '30', '20', '25']),
    'Company car': (random) => random.pick(['yes', 'no']),
  },
  questions: {
    cell: (table) => {
      const name = table.some('Name');
      return {
        ask: [
          `Where does ${name} work?`,
          `In which city does ${name} work?`,
          `Which city is ${name} based in?`,
        ],
        expect: cell(table.cell(table.is('Name', name)[0]!, 'City')),
      };
    },
    when: (table) => {
      const name = table.some('Name');
      return {
        ask: [
          `When did ${name} start?`,
          `Since when has ${name} been employed?`,
          `start date of ${name}`,
          `When did ${name} join?`,
        ],
        expect: cell(table.cell(table.is('Name', name)[0]!, 'Start')),
      };
    },
    job: (table) => {
      const name = table.some('Name');
      return {
        ask: [`What is ${name}'s job?`, `What position does ${name} have?`, `position of ${name}`],
        expect: cell(table.cell(table.is('Name', name)[0]!, 'Position')),
      };
    },
    'rows value': (table) => {
      const city = table.some('City');
      return {
        ask: [
          `Who works in ${city}?`,
          `Which employees work in ${city}?`,
          `List the people in ${city}`,
          `who is based in ${city}`,
        ],
        expect: rows(table.is('City', city)),
      };
    },
    'rows not value': (table) => {
      const city = table.some('City');
      return {
        ask: [
          `Who does not work in ${city}?`,
          `Which employees don't work in ${city}?`,
          `Which employees are not in ${city}?`,
        ],
        expect: rows(table.where((row) => row['City'] !== city)),
      };
    },
    'rows value and not': (table) => {
      const [city, department] = [table.some('City'), table.some('Department')];
      return {
        ask: [
          `Which employees of ${department} do not work in ${city}?`,
          `Who in ${department} is not based in ${city}?`,
        ],
        expect: rows(table.where((row) => row['City'] !== city && row['Department'] === department)),
      };
    },
    'rows flag': (table) => ({
      ask: ['Which employees have a company car?', 'Who has a company car?'],
      expect: rows(table.is('Company car', 'yes')),
    }),
    'rows no flag': (table) => ({
      ask: [
        'Which employees have no company car?',
        'Who does not have a company car?',
        'Which employees are without a company car?',
      ],
      expect: rows(table.is('Company car', 'no')),
    }),
    'rows since': (table) => ({
      ask: [
        'Who started after 2018?',
        'Which employees joined after 2018?',
        'Which employees started later than 2018?',
      ],
      expect: rows(table.where((row) => row['Start']! >= '2019')),
    }),
    'rows before': (table) => ({
      ask: ['Who started before 2012?', 'Which employees joined before 2012?'],
      expect: rows(table.where((row) => row['Start']! < '2012')),
    }),
    'rows in year': (table) => ({
      ask: ['Who started in 2020?', 'Which employees joined in 2020?'],
      expect: rows(table.where((row) => row['Start']!.startsWith('2020'))),
    }),
    count: (table) => {
      const department = table.some('Department');
      return {
        ask: [
          `How many people work in ${department}?`,
          `How many employees are in ${department}?`,
          `How many employees does ${department} have?`,
        ],
        expect: number(table.is('Department', department).length),
      };
    },
    'count not': (table) => {
      const department = table.some('Department');
      return {
        ask: [
          `How many employees are not in ${department}?`,
          `How many people do not work in ${department}?`,
        ],
        expect: number(table.rows.length - table.is('Department', department).length),
      };
    },
    'count all': (table) => ({
      ask: ['How many employees are there?', 'How many people work here?'],
      expect: number(table.rows.length),
    }),
    different: (table) => ({
      ask: ['How many departments are there?', 'How many different departments are there?'],
      expect: number(new Set(table.rows.map((row) => row['Department'])).size),
    }),
    oldest: (table) => ({
      ask: ['Who started first?', 'Who joined first?', 'Which employee has the earliest start?'],
      expect: rows(table.best('Start', 'min')),
    }),
    newest: (table) => ({
      ask: ['Who joined most recently?', 'Who started last?', 'Which employee has the latest start?'],
      expect: rows(table.best('Start', 'max')),
    }),
    group: (table) => {
      const most = table.commonest('City');
      return most.length > 1
        ? undefined
        : {
            ask: ['Which city has the most employees?', 'In which city do most people work?'],
            expect: { kind: 'value', value: most[0]! },
          };
    },
    'yes-no value': (table) => {
      const [name, city] = [table.some('Name'), table.some('City')];
      return {
        ask: [`Does ${name} work in ${city}?`, `Is ${name} in ${city}?`],
        expect: yesNo(table.cell(table.is('Name', name)[0]!, 'City') === city),
      };
    },
    'yes-no flag': (table) => {
      const name = table.some('Name');
      return {
        ask: [`Does ${name} have a company car?`, `Has ${name} got a company car?`],
        expect: yesNo(table.cell(table.is('Name', name)[0]!, 'Company car') === 'yes'),
      };
    },
    unknown: (table) => ({
      ask: [
        `What is the salary of ${table.some('Name')}?`,
        `Who left in 2020?`,
        `Who is the best colleague in ${table.some('City')}?`,
        'Where does Zaphod Prefect work?',
        'Who is on holiday?',
        'How many employees are ill?',
      ],
      expect: refusal,
    }),
  },
};
