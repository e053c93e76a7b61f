import { describe, expect, it } from 'vitest';
import { readQueries } from './read-queries.js';

const two = ['When was Dune written?', 'publication date of Dune'];

describe('readQueries', () => {
  it.each([
    ['a JSON list', JSON.stringify(two)],
    ['a list over several lines', JSON.stringify(two, null, 2)],
    ['a code fence', '```json\n["When was Dune written?", "publication date of Dune"]\n```'],
    ['a sentence before the list', `Here are the queries:\n${JSON.stringify(two)}\nI hope this helps.`],
    ['an object with a list', JSON.stringify({ queries: two })],
    ['objects with a query', JSON.stringify(two.map((query) => ({ query, reason: 'x' })))],
    ['single quotes', "['When was Dune written?', 'publication date of Dune']"],
    ['mixed quotes that are not JSON', `["When was Dune written?", 'publication date of Dune']`],
    ['lines', two.join('\n')],
    ['bullets', `- ${two[0]}\n* ${two[1]}`],
    ['numbers', `1. ${two[0]}\n2) ${two[1]}`],
    ['labels', `Query 1: ${two[0]}\n**Search query 2:** ${two[1]}`],
    ['quotes', `"${two[0]}"\n„${two[1]}“`],
    ['a heading', `**Search queries:**\n1. **${two[0]}**\n2. \`${two[1]}\``],
    ['reasoning', `<think>\n["not this"]\n</think>\n\n${JSON.stringify(two)}`],
    ['reasoning without its first mark', `Let me see.\n</think>${JSON.stringify(two)}`],
    ['repetitions', JSON.stringify([...two, 'when was dune written?'])],
  ])('reads %s', (_what, answer) => {
    expect(readQueries(answer)).toEqual({ queries: two });
  });

  it.each([
    ['an imperative', 'Put the fees of all tariffs into a table'],
    ['two questions', 'Who built it? When?'],
    ['another language', '佐尔万天文台是什么时候建造的？'],
    ['words alone', 'Zorvan observatory sponsor'],
    ['a number in front', '3.5 mm jack pinout'],
    ['a year in front', '2024 budget of the town'],
    ['a phrase', '"Not OK" list of the handbook'],
    ['two phrases', '"Not OK" and "Never OK"'],
    ['brackets', 'What does a[1] mean in SQL?'],
    ['an error text', 'ERROR: relation "users" does not exist'],
    ['a colon', 'meaning of status: draft'],
    ['a sentence', 'The city of Marl paid for the Zorvan observatory.'],
  ])('takes %s as one query', (_what, query) => {
    expect(readQueries(query)).toEqual({ queries: [query] });
    expect(readQueries(JSON.stringify([query]))).toEqual({ queries: [query] });
  });

  it.each([
    '[]',
    ' [ ] ',
    '```json\n[]\n```',
    'NONE',
    'None.',
    'N/A',
    '{"queries": []}',
    'No search needed.',
  ])('reads %j as none', (answer) => {
    expect(readQueries(answer)).toEqual({ queries: [] });
  });

  it.each(['', '  \n', '<think>Who is it?', '["", " "]', '???'])('reads no query from %j', (answer) => {
    expect(readQueries(answer)).toEqual({ queries: [], problem: 'empty' });
  });

  it('keeps three queries', () => {
    expect(readQueries('a1\nb2\nc3\nd4').queries).toEqual(['a1', 'b2', 'c3']);
  });

  it('drops the query in which an answer was cut', () => {
    expect(readQueries('["When was Dune written?", "publi', true)).toEqual({ queries: [two[0]] });
    expect(readQueries(`${two[0]}\npubli`, true)).toEqual({ queries: [two[0]] });
    expect(readQueries('["When was', true)).toEqual({ queries: [], problem: 'too_long' });
    expect(readQueries('x'.repeat(2_500), true)).toEqual({ queries: [], problem: 'too_long' });
  });
});
