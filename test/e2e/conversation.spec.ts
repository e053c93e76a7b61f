import { startStack, type TestStack } from '#platform/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { postJson } from './helpers/http.js';
import { ingestText } from './helpers/ingest.js';

interface Message {
  content: string;
  annotations?: { url_citation: { quote: string } }[];
}
interface Turn {
  role: 'user' | 'assistant';
  content: string;
}

let stack: TestStack;
let url: string;

beforeAll(async () => {
  stack = await startStack();
  url = stack.service('gateway').url;
  await ingestText(
    url,
    'zorvan.md',
    [
      '# The Zorvan observatory',
      'The Zorvan observatory stands on Mount Kell, at a height of 2,140 meters.',
      'The Zorvan observatory was built by Ann Lee in 1930.',
      'The city of Marl paid for the Zorvan observatory with a tax on salt.',
      'The telescope of the Zorvan observatory was made by Otto Brandt, and has a mirror of 3 meters.',
      'The Zorvan observatory closed in 1987 because the lights of Marl had become too bright.',
    ].join('\n\n'),
  );
  await ingestText(
    url,
    'quibble.md',
    [
      '# The Quibble ferry',
      'The Quibble ferry crosses the river Oker each hour and runs on plum juice.',
      'The fare of the Quibble ferry is two coins.',
      'The captain of the Quibble ferry is Mira Sol.',
      '| dock | depth |\n| --- | --- |\n| north dock of the ferry | 4 meters |\n| south dock of the ferry | 6 meters |',
    ].join('\n\n'),
  );
});
afterAll(() => stack?.stop());

async function say(turns: readonly Turn[]): Promise<Message> {
  const { status, body } = await postJson(`${url}/v1/chat/completions`, { messages: turns });
  expect({ status, body }).toMatchObject({ status: 200 });
  return (body as { choices: { message: Message }[] }).choices[0]!.message;
}

describe('a conversation', () => {
  it.each([
    ['Hello', /^Hello! Ask me about your documents\.$/],
    ['Hi there!', /^Hello!/],
    ['Good morning', /^Hello!/],
    ['Hey, how are you?', /well/],
    ['Thanks a lot!', /^You are welcome\.$/],
    ['Thank you for your help', /^You are welcome\.$/],
    ['Who are you?', /assistant of MegaNest.* Ask me about your documents/],
    ['Hello, what is your name?', /assistant of MegaNest/],
    ['What can you do?', /questions from your documents/],
    ['Goodbye', /^Goodbye!/],
  ])('%s gets a short answer without a quote', async (content, expected) => {
    const answer = await say([{ role: 'user', content }]);
    expect(answer.content).toMatch(expected);
    expect(answer.content.length).toBeLessThan(200);
    expect(answer.annotations ?? []).toEqual([]);
  });

  const observatory = 'Who built the Zorvan observatory?';
  const ferry = 'What does the Quibble ferry run on?';
  it.each([
    [observatory, 'And who paid for it?', 'tax on salt'],
    [observatory, 'When was it closed?', '1987'],
    [observatory, 'Where does it stand?', 'Mount Kell'],
    [observatory, 'What about its telescope?', 'Otto Brandt'],
    [observatory, 'Why was it closed?', 'too bright'],
    [observatory, 'And how high is it?', '2,140 meters'],
    [ferry, 'Who is its captain?', 'Mira Sol'],
    [ferry, 'And the fare?', 'two coins'],
    [ferry, 'Which river does it cross?', 'Oker'],
    [ferry, 'How often does it cross the river?', 'each hour'],
  ])('after "%s", "%s" is answered with what it refers to', async (first, followUp, expected) => {
    const asked: Turn = { role: 'user', content: first };
    const { content } = await say([asked]);
    const answer = await say([asked, { role: 'assistant', content }, { role: 'user', content: followUp }]);
    expect(answer.content).toContain(expected);
    expect(answer.annotations?.some(({ url_citation }) => url_citation.quote.includes(expected))).toBe(true);
  });

  it('quotes several rows where several things are asked for', async () => {
    const answer = await say([{ role: 'user', content: 'Which docks of the ferry are there?' }]);
    expect(answer.content).toContain('north dock');
    expect(answer.content).toContain('south dock');
  });
});
