/** Documents that are generated: the manuals of a family of machines, minutes of a board, registers, and a reference of an API. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '#platform/foundation';
import { workbook } from '../answers/workbook.js';
import { drawFrom, type Draw } from './draw.js';
import { registers, type Register } from './registers.js';

/** A document as it is ingested. */
export interface Document {
  readonly kind: string;
  readonly name: string;
  /** Its words: for a check of the expected facts. */
  readonly text: string;
  readonly body: string | Buffer<ArrayBuffer>;
}

interface Meeting {
  readonly date: string;
  readonly chair: string;
  readonly absent: string;
  /** Titles and texts. */
  readonly items: readonly (readonly [string, string])[];
}

const folder = join(projectRoot, 'bench', 'evidence', 'templates');
const readTemplate = (name: string) => readFileSync(join(folder, name), 'utf8');
/** Was chosen before any result was seen. */
const seed = 31;

/** All generated documents; always the same. */
export function generateDocuments(): Document[] {
  return [...manuals(), ...minutes(), ...references(), ...Object.values(registers()).map(registerDocument)];
}

function plain(kind: string, name: string, text: string): Document {
  return { kind, name, text, body: text };
}

/** A manual for each machine: the same sentences with other names and numbers, as makers write them. */
function manuals(): Document[] {
  const template = readTemplate('mower.md');
  const mowers = JSON.parse(readTemplate('mowers.json')) as Record<string, string | number>[];
  return mowers.map((mower) => {
    const text = template.replaceAll(/\{\{(\w+)\}\}/g, (_match, name: string) => String(mower[name]));
    return plain('devices', String(mower['file']), text);
  });
}

function minutes(): Document[] {
  const meetings = JSON.parse(readTemplate('meetings.json')) as Meeting[];
  const draw = drawFrom(seed);
  return meetings.map((meeting, index) =>
    plain('minutes', `board-${meeting.date}.txt`, minutesOf(meeting, meetings[index + 1], draw)),
  );
}

const people = ['Maren Oduya', 'Tobias Renn', 'Ines Calder', 'Kees Albers', 'Noor Haddad', 'Jelle Brandsma'];
const dayOf = (date: string) =>
  new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeZone: 'UTC' }).format(new Date(date));

/** The reports that each meeting hears, and its own items. */
function minutesOf({ date, chair, absent, items }: Meeting, next: Meeting | undefined, draw: Draw): string {
  const present = people.filter((name) => !absent.includes(name)).join(', ');
  const [income, costs] = [draw.integer(98_000, 131_000), draw.integer(71_000, 118_000)];
  const reports = [
    `1. Minutes of the last meeting\nThe minutes are accepted ${draw.pick(['without changes', 'with a correction of a name', 'after a short discussion'])}. Open tasks were gone through one after the other; ${draw.integer(2, 9)} of them are done, and ${draw.integer(1, 5)} remain on the list for the next time.`,
    `2. Report of the treasurer\nSince the beginning of the quarter rents and fees of ${income.toLocaleString('en')} euros have come in, and ${costs.toLocaleString('en')} euros were spent. ${draw.integer(1, 6)} households are late with their payments; the treasurer talks with them before letters are written. The reserve for repairs has ${draw.integer(180, 420)},${draw.integer(100, 999)} euros. The audit had ${draw.pick(['nothing to add', 'two questions, which were answered', 'a remark about petty cash'])}.`,
    `3. Report of the caretaker\nSince the last meeting ${draw.integer(19, 64)} repairs were reported, of which ${draw.integer(8, 19)} were about taps and drains, ${draw.integer(2, 9)} about doors and locks, and ${draw.integer(1, 8)} about lamps in the stairwells. ${draw.integer(1, 4)} flats were handed over to new residents. The meters were read on the last day of the month. Fallen leaves, gutters and drains were cleaned as planned, and the emergency lights were tested without a fault.`,
    `4. Waiting list\nThere are ${draw.integer(140, 260)} households on the waiting list, ${draw.integer(11, 40)} of them from the town. The committee for new members has held ${draw.integer(2, 9)} talks. The next flat that becomes free goes to a family, as the share of single persons has grown.`,
  ];
  const own = items.map(([title, text], index) => `${index + 5}. ${title}\n${text}`);
  const end = `${items.length + 5}. Any other business\n${draw.pick(closing)}\n\nThe meeting closed at ${draw.integer(20, 22)}:${draw.pick(['05', '15', '20', '40', '50'])}.${next ? ` The next one is on ${dayOf(next.date)}.` : ''}`;
  const head = `TESSEL HOUSING CO-OPERATIVE\nMinutes of the board meeting on ${dayOf(date)}, 19:30, common room\n\nChair: ${chair}\nPresent: ${present}\nAbsent: ${absent}`;
  return `${[head, ...reports, ...own, end].join('\n\n')}\n`;
}

const closing = [
  'A resident thanks the board for the quick repair of the front door. There are no further matters.',
  'The house council asks for a notice board in each stairwell. The caretaker looks for a cheap one until the next meeting.',
  'The board has received an invitation to the open day of the co-operative in Kade Street, and two members want to go there.',
  'It is pointed out that windows in the stairwells should be closed in heavy rain. The caretaker hangs up a note.',
];

const objects = [
  'address',
  'carrier',
  'offer',
  'parcel',
  'pickup',
  'manifest',
  'invoice',
  'adjustment',
  'warehouse',
  'box',
  'rule',
  'user',
  'report',
  'claim',
];
const fields = [
  'id',
  'created',
  'reference',
  'state',
  'note',
  'owner',
  'country',
  'amount',
  'weight_g',
  'tags',
];

/** Pages of a reference with examples of JSON, whose names occur in the questions, too. */
function references(): Document[] {
  const draw = drawFrom(seed + 1);
  return objects.map((name) => plain('api', `reference-${name}.md`, referenceOf(name, draw)));
}

function referenceOf(name: string, draw: Draw): string {
  const own = fields.filter(() => draw.integer(0, 9) < 8);
  const example = Object.fromEntries(own.map((field) => [field, exampleOf(name, field, draw)]));
  const json = (value: unknown) => `\`\`\`json\n${JSON.stringify(value, undefined, 2)}\n\`\`\``;
  const path = `/v3/${name}s`;
  const rows = own.map(
    (field) =>
      `| \`${field}\` | ${meanings[field]!.replaceAll('{name}', name)} | ${draw.pick(['yes', 'no'])} |`,
  );
  return [
    `---\ntitle: Reference of ${name}s\n---\n\n# Reference of ${name}s`,
    `The object \`${name}\` belongs to an account. It is made once and can be read by each key with the right \`read\`.`,
    `## Fields\n\n| Field | Meaning | Can be changed |\n| --- | --- | --- |\n${rows.join('\n')}`,
    `## Read one\n\n\`GET ${path}/{id}\` reads one ${name}. Unknown identifiers are answered with 404.\n\n${json(example)}`,
    `## List\n\n\`GET ${path}\` lists them, the newest first. A page has ${draw.pick([20, 25, 50, 100])} entries; follow \`next\` until it is null.\n\n${json({ data: [example, { ...example, id: `${name.slice(0, 3)}_${draw.integer(1000, 9999)}` }], next: `${path}?after=${draw.integer(1000, 9999)}` })}`,
    `## Make one\n\n\`POST ${path}\` makes a ${name}. The needed right is \`${draw.pick(['ship', 'admin'])}\`. Fields that are unknown are refused.\n\n${json({ ...example, id: undefined, created: undefined })}`,
    `## Change and delete\n\n\`PATCH ${path}/{id}\` changes the given fields and leaves the others. \`DELETE ${path}/{id}\` removes the ${name}, unless something else refers to it; then the answer is 409.\n\n${json({ error: { code: `${name}_in_use`, message: `The ${name} is in use.`, request_id: `req_${draw.integer(10_000, 99_999)}` } })}`,
  ].join('\n\n');
}

const meanings: Readonly<Record<string, string>> = {
  id: 'identifier of the {name}',
  created: 'time at which the {name} was made',
  reference: 'your own name for the {name}, up to 60 characters',
  state: 'state of the {name}: `open`, `done` or `failed`',
  note: 'a text for your colleagues',
  owner: 'the person who made the {name}',
  country: 'two letters of ISO 3166',
  amount: 'amount as a string, with two digits after the point',
  weight_g: 'weight in grams',
  tags: 'up to ten words by which {name}s can be found',
};

function exampleOf(name: string, field: string, draw: Draw): unknown {
  switch (field) {
    case 'id':
      return `${name.slice(0, 3)}_${draw.integer(1000, 9999)}`;
    case 'created':
      return `2025-0${draw.integer(1, 9)}-1${draw.integer(0, 9)}T08:${draw.integer(10, 59)}:00Z`;
    case 'amount':
      return `${draw.integer(3, 180)}.${draw.integer(10, 99)}`;
    case 'weight_g':
      return draw.integer(120, 31_000);
    case 'tags':
      return [draw.pick(['fragile', 'books', 'gift']), draw.pick(['spring', 'b2b', 'returned'])];
    case 'state':
      return draw.pick(['open', 'done', 'failed']);
    case 'country':
      return draw.pick(['DE', 'FR', 'AT', 'DK', 'PT']);
    default:
      return `${name}-${draw.integer(100, 999)}`;
  }
}

function registerDocument({ name, format, columns, rows, preface }: Register): Document {
  const header = columns;
  const text = [header, ...rows].map((row) => row.join(' | ')).join('\n');
  if (format === 'xlsx') {
    const cells = [
      header,
      ...rows.map((row) => row.map((cell) => (/^\d+(?:\.\d+)?$/.test(cell) ? Number(cell) : cell))),
    ];
    return { kind: 'registers', name, text, body: workbook({ [preface]: cells }) };
  }
  if (format === 'csv') {
    const body = [header, ...rows].map((row) => row.join(';')).join('\n');
    return { kind: 'registers', name, text, body };
  }
  const line = (row: readonly string[]) => `| ${row.join(' | ')} |`;
  const body = `${preface}\n\n${[line(header), line(header.map(() => '---')), ...rows.map(line)].join('\n')}\n`;
  return { kind: 'registers', name, text: `${preface}\n${text}`, body };
}
