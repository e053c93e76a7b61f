import { makeEpub } from '../fixtures/dataprep/make-office.js';
import { fileForm, type Answer, type Ask } from './client.js';

/** What bob does, and whether a request of it must be refused. */
export interface Attack {
  name: string;
  run: (ask: Ask, signal: AbortSignal) => Promise<Answer[]>;
  refused?: true;
  /** A smaller form of it, of a few seconds. */
  short?: (ask: Ask, signal: AbortSignal) => Promise<Answer[]>;
}

const many = (count: number, send: (index: number) => Promise<Answer>) =>
  Promise.all(Array.from({ length: count }, (_unused, index) => send(index)));
const post = (
  path: string,
  body: unknown,
  more: Partial<Attack> = {},
): Pick<Attack, 'run'> & Partial<Attack> => ({
  run: async (ask, signal) => [await ask('POST', path, body, signal)],
  ...more,
});
const chat = (more: object) => ({ model: 'nano-chat', messages: 'Say hi.', ...more });

/** Rules that begin with each other in many ways, which takes seconds to find out. */
const grammar = Array.from(
  { length: 700 },
  (_unused, rule) => `r${rule} ::= r${(rule * 7 + 1) % 700} "a" | r${(rule * 11 + 3) % 700} "b" | "c"`,
).join('\n');
const book = Uint8Array.from(makeEpub('Book', [`<p>${'hello there '.repeat(300)}</p>`], 100_000));
/** Text files of this size take a reader process a while. */
const markdown = (index: number) => `# Heading ${index}\n\n${'1. item with words\n'.repeat(20_000)}`;

const generations =
  (maxTokens: number): Attack['run'] =>
  (ask, signal) =>
    many(200, () => ask('POST', '/v1/chat/completions', chat({ max_tokens: maxTokens }), signal));
const books =
  (count: number): Attack['run'] =>
  (ask, signal) =>
    many(count, (index) =>
      ask('POST', '/v1/dataprep/ingest', fileForm(`b${index}.epub`, book, { collection: 'bob' }), signal),
    );
const elements = post('/v1/responses', `{"model":"nano-chat","input":[${'{},'.repeat(400_000)}{}]}`);
const digits = post('/v1/audio/speech', { input: '9'.repeat(4_096), speed: 0.25, response_format: 'opus' });
const longRanking = post('/v1/rerank', {
  query: 'a',
  documents: Array.from({ length: 1_000 }, () => 'word '.repeat(1_500)),
});

/** The attacks of the review, by their findings, and those that the limits of clients are for. */
export const attacks: readonly Attack[] = [
  {
    name: 'H1 elements',
    ...elements,
    refused: true,
    short: elements.run,
  },
  {
    name: 'H1 unknown keys',
    ...post(
      '/v1/chat/completions',
      `{${Array.from({ length: 600_000 }, (_unused, key) => `"k${key}":1`).join(',')}}`,
    ),
    refused: true,
  },
  {
    name: 'H2 summary of short sentences',
    ...post('/v1/docsum', { messages: 'Mr. Smith went. '.repeat(24_000), stream: false }),
    short: post('/v1/docsum', { messages: 'Mr. Smith went. '.repeat(1_500), stream: false }).run,
  },
  {
    name: 'H2 summary without spaces',
    ...post('/v1/docsum', { messages: '漢字。'.repeat(130_000), stream: false }),
  },
  { name: 'H3 long question', ...post('/v1/retrievaltool', { messages: 'word '.repeat(400_000) }) },
  {
    name: 'H4 long title',
    run: async (ask, signal) => {
      const mail = `From: a@b\r\nTo: c@d\r\nSubject: ${'word '.repeat(20_000)}\r\n\r\n${'Text of it. '.repeat(20_000)}`;
      return [
        await ask('POST', '/v1/dataprep/ingest', fileForm('a.eml', mail, { collection: 'bob' }), signal),
      ];
    },
  },
  {
    name: 'H5 twenty grammars',
    run: (ask, signal) =>
      many(20, (index) =>
        ask(
          'POST',
          '/v1/chat/completions',
          chat({ guided_grammar: `root ::= r${index}\n${grammar}` }),
          signal,
        ),
      ),
  },
  {
    name: 'H5 sixteen answers of ten requests',
    run: (ask, signal) =>
      many(10, () => ask('POST', '/v1/chat/completions', chat({ n: 16, max_tokens: 400 }), signal)),
  },
  {
    name: 'too many generations',
    run: generations(200),
    refused: true,
    short: generations(4),
  },
  { name: 'H6 twelve books', run: books(12), short: books(2) },
  {
    name: 'H6 twelve long lists',
    run: (ask, signal) =>
      many(12, (index) =>
        ask(
          'POST',
          '/v1/dataprep/ingest',
          fileForm(`l${index}.md`, markdown(index), { collection: 'bob' }),
          signal,
        ),
      ),
  },
  {
    name: 'H6 jobs',
    run: (ask, signal) =>
      many(110, (index) =>
        ask(
          'POST',
          '/v1/dataprep/ingest',
          fileForm(`j${index}.md`, markdown(index), { collection: 'bob', async: true }),
          signal,
        ),
      ),
    refused: true,
  },
  {
    name: 'M2 speech of digits',
    ...digits,
    refused: true,
    short: digits.run,
  },
  {
    name: 'M2 eight long speeches',
    run: (ask, signal) =>
      many(8, () =>
        ask(
          'POST',
          '/v1/audio/speech',
          { input: 'An ordinary sentence. '.repeat(180), response_format: 'wav' },
          signal,
        ),
      ),
  },
  {
    name: 'M4 long documents to rank',
    ...longRanking,
    refused: true,
    short: longRanking.run,
  },
  {
    name: 'M4 many documents to rank',
    ...post('/v1/rerank', {
      query: 'a',
      documents: Array.from({ length: 1_000 }, () => 'word '.repeat(390)),
    }),
  },
  {
    name: 'M4 tokens to embed',
    ...post('/v1/embeddings', {
      input: Array.from({ length: 100 }, () => Array.from({ length: 4_000 }, () => 7)),
    }),
    refused: true,
  },
  {
    name: 'M4 texts to embed',
    ...post('/v1/embeddings', { input: Array.from({ length: 2_048 }, () => 'word '.repeat(100)) }),
  },
];
