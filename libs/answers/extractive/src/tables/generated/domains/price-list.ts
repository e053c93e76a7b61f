import { cell, number, numberOf, refusal, rows, uniqueName, yesNo, type Domain } from '../generator.js';

/** A price list of pumps. */
export const priceList: Domain = {
  about: 'Price list 2025 pumps prices-2025',
  columns: {
    Article: (_random, row) => `P-${100 + row}`,
    Name: uniqueName(
      ['Garden pump', 'Well pump', 'Pond filter', 'Water hose', 'Rain barrel'],
      [
        'Heron',
        'Lark',
        'Falcon',
        'Plover',
        'Stork',
        'Wren',
        'Swift',
        'Robin',
        'Kite',
        'Crane',
        'Egret',
        'Finch',
        'Gull',
        'Ibis',
        'Jay',
        'Kestrel',
        'Merlin',
        'Nuthatch',
        'Osprey',
        'Pipit',
        'Quail',
        'Raven',
        'Siskin',
        'Tern',
      ],
    ),
    'Price EUR': (random) => `${random.int(9, 480)}.${random.pick(['00', '50', '90'])}`,
    Stock: (random) => String(random.pick([0, 0, random.int(1, 90)])),
    'Weight kg': (random) => `${random.int(1, 30)}.${random.int(0, 9)}`,
    Supplier: (random) => random.pick(['Castello', 'Nordpump', 'Aquila', 'Holzhof Pirk']),
    'Warranty months': (random) => String(random.pick([12, 24, 36])),
  },
  questions: {
    cell: (table) => {
      const name = table.some('Name');
      return {
        ask: [
          `What does the ${name} cost?`,
          `How much is the ${name}?`,
          `price of ${name}`,
          `What is the price of the ${name}?`,
        ],
        expect: cell(table.cell(table.is('Name', name)[0]!, 'Price EUR')),
      };
    },
    'cell by code': (table) => {
      const article = table.some('Article');
      return {
        ask: [
          `Who supplies ${article}?`,
          `Which supplier delivers ${article}?`,
          `What is the supplier of ${article}?`,
        ],
        expect: cell(table.cell(table.is('Article', article)[0]!, 'Supplier')),
      };
    },
    'cell weight': (table) => {
      const name = table.some('Name');
      return {
        ask: [
          `How heavy is the ${name}?`,
          `How much does the ${name} weigh?`,
          `What is the weight of the ${name}?`,
        ],
        expect: cell(table.cell(table.is('Name', name)[0]!, 'Weight kg')),
      };
    },
    'rows less than': (table) => {
      const limit = table.random.int(40, 300);
      return {
        ask: [
          `Which articles cost less than ${limit} euros?`,
          `What can I buy for under ${limit} €?`,
          `Which articles are cheaper than ${limit} euros?`,
          `List all articles with a price below ${limit}`,
        ].filter((ask) => !ask.startsWith('What can')),
        expect: rows(table.where((row) => numberOf(row['Price EUR']!) < limit)),
      };
    },
    'rows between': (table) => ({
      ask: [
        'Which articles cost between 50 and 150 euros?',
        'Show me the articles with a price between 50 and 150 EUR',
      ],
      expect: rows(
        table.where((row) => numberOf(row['Price EUR']!) >= 50 && numberOf(row['Price EUR']!) <= 150),
      ),
    }),
    'rows out of stock': (table) => ({
      ask: [
        'Which articles are out of stock?',
        'Which articles are not in stock?',
        'What articles are sold out?',
      ],
      expect: rows(table.is('Stock', '0')),
    }),
    'rows not value': (table) => {
      const supplier = table.some('Supplier');
      return {
        ask: [
          `Which articles are not from ${supplier}?`,
          `Which articles are not supplied by ${supplier}?`,
          `List the articles except those of ${supplier}`,
        ],
        expect: rows(table.where((row) => row['Supplier'] !== supplier)),
      };
    },
    'rows two filters': (table) => {
      const supplier = table.some('Supplier');
      return {
        ask: [
          `Which articles of ${supplier} cost more than 100 euros?`,
          `Which articles from ${supplier} are over 100 euros?`,
        ],
        expect: rows(table.where((row) => row['Supplier'] === supplier && numberOf(row['Price EUR']!) > 100)),
      };
    },
    'count value': (table) => {
      const supplier = table.some('Supplier');
      return {
        ask: [
          `How many articles does ${supplier} supply?`,
          `How many articles are from ${supplier}?`,
          `number of articles from ${supplier}`,
        ],
        expect: number(table.is('Supplier', supplier).length),
      };
    },
    'count number': (table) => ({
      ask: [
        'How many articles have a warranty of 24 months?',
        'How many articles come with 24 months of warranty?',
      ],
      expect: number(table.is('Warranty months', '24').length),
    }),
    sum: (table) => ({
      ask: ['What is the total stock?', 'What is the sum of the stock of all articles?'],
      expect: number(table.sum('Stock')),
    }),
    mean: (table) => ({
      ask: [
        'What is the average price?',
        'What does an article cost on average?',
        'average price of all articles',
      ],
      expect: number(table.sum('Price EUR') / table.rows.length),
    }),
    max: (table) => ({
      ask: [
        'Which article is the most expensive?',
        'What is the most expensive article?',
        'most expensive article',
      ],
      expect: rows(table.best('Price EUR', 'max')),
    }),
    min: (table) => ({
      ask: [
        'Which article is the cheapest?',
        'What is the cheapest article?',
        'Which article has the lowest price?',
      ],
      expect: rows(table.best('Price EUR', 'min')),
    }),
    'min of some': (table) => {
      const supplier = table.some('Supplier');
      return {
        ask: [
          `What is the cheapest article of ${supplier}?`,
          `Which article from ${supplier} is the cheapest?`,
        ],
        expect: rows(table.best('Price EUR', 'min', table.is('Supplier', supplier))),
      };
    },
    heaviest: (table) => ({
      ask: [
        'What is the heaviest article?',
        'Which article weighs the most?',
        'Which article has the highest weight?',
      ],
      expect: rows(table.best('Weight kg', 'max')),
    }),
    compare: (table) => {
      const [one, two] = table.pair();
      if (table.cell(one, 'Price EUR') === table.cell(two, 'Price EUR')) return undefined;
      return {
        ask: [
          `Which is cheaper, the ${table.cell(one, 'Name')} or the ${table.cell(two, 'Name')}?`,
          `What costs less, the ${table.cell(two, 'Name')} or the ${table.cell(one, 'Name')}?`,
        ],
        expect: rows(table.best('Price EUR', 'min', [one, two])),
      };
    },
    difference: (table) => {
      const [one, two] = table.pair();
      const [low, high] =
        numberOf(table.cell(one, 'Price EUR')) < numberOf(table.cell(two, 'Price EUR'))
          ? [one, two]
          : [two, one];
      return {
        ask: [
          `How much more does the ${table.cell(high, 'Name')} cost than the ${table.cell(low, 'Name')}?`,
          `What is the difference in price between the ${table.cell(one, 'Name')} and the ${table.cell(two, 'Name')}?`,
        ],
        expect: number(numberOf(table.cell(high, 'Price EUR')) - numberOf(table.cell(low, 'Price EUR'))),
      };
    },
    'yes-no stock': (table) => {
      const name = table.some('Name');
      return {
        ask: [`Is the ${name} in stock?`, `Is the ${name} available?`],
        expect: yesNo(table.cell(table.is('Name', name)[0]!, 'Stock') !== '0'),
      };
    },
    'unknown name': () => ({
      ask: [
        'What does the Garden pump Zephyr cost?',
        'Is the Winter cover in stock?',
        'Which motorbikes cost less than 100 euros?',
        'Which supplier has won an award?',
        'What is the salary of Nordpump?',
        'How do I return an article?',
        'Which articles are recommended for children?',
      ],
      expect: refusal,
    }),
  },
};
