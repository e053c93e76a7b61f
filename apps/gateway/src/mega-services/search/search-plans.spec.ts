import type { ChatMessage } from '#platform/contracts';
import { describe, expect, it } from 'vitest';
import { DocumentLanguages } from './document-languages.js';
import type { WrittenQueries } from './query-writer.js';
import { SearchPlans } from './search-plans.js';

const turns = (...texts: string[]): ChatMessage[] =>
  texts.map((content, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', content }));
const first = 'Who built the Zorvan observatory?';
const rewritten = 'Who paid for the Zorvan observatory?';
const byWords = 'and who paid for it? Zorvan built observatory Lee';
const dialogue = (last: string) => turns(first, 'Ann Lee.', last);

function plans(written: WrittenQueries = { queries: [rewritten] }) {
  const asked: (readonly ChatMessage[])[] = [];
  const looked: unknown[] = [];
  const told: (readonly string[])[] = [];
  const service = new SearchPlans(
    {
      write: ({ messages, languages = [] }) => (
        asked.push(messages),
        told.push(languages),
        Promise.resolve(written)
      ),
    },
    {
      find: (messages, owner) => {
        looked.push({ messages, owner });
        return Promise.resolve({ documents: ['d'], passages: ['c'] });
      },
    },
    new DocumentLanguages(),
  );
  const plan = (messages: ChatMessage[], asksModel = true, query = messages.at(-1)!.content) =>
    service.planOf({ query, messages }, { request: { asksModel, owner: 'alice' }, options: {} });
  return { service, plan, asked, looked, told };
}

describe('SearchPlans', () => {
  it('searches a first question as typed, and asks the model for more', async () => {
    const { plan, asked, looked } = plans();
    const made = plan(turns('What does it cost?'));
    expect(made.asked).toEqual({ query: 'What does it cost?', by: 'user' });
    expect((await made.written).queries).toEqual([rewritten]);
    expect(await made.question).toBe(rewritten);
    expect(asked).toHaveLength(1);
    expect(looked).toEqual([]);
  });

  it('searches a follow-up with words of the turns before, and with what the answers cite', async () => {
    const { plan, looked } = plans({ queries: [], problem: 'deadline_exceeded' });
    const made = plan(dialogue('and who paid for it?'));
    expect(made.asked).toEqual({ query: byWords, by: 'words' });
    expect(await made.question).toBe(byWords);
    expect(await made.cited).toEqual({ documents: ['d'], passages: ['c'] });
    expect(looked).toMatchObject([{ owner: 'alice' }]);
  });

  it('lets the model know the languages of the documents that were found before', () => {
    const { plan, told } = plans();
    plan(turns('Was kostet es?')).learn([
      'The office is open.',
      'It is closed on Sundays.',
      'When it is open.',
    ]);
    plan(turns('Wann ist es offen?'));
    expect(told).toEqual([[], ['English']]);
  });

  it('adds English words to a German question, unless the documents are in German', () => {
    const { plan } = plans();
    const german = 'Was kostet der Schlüssel?';
    const asked = plan(turns(german)).asked;
    expect(asked).toMatchObject({ query: expect.stringContaining(german), by: 'words' });
    expect(asked?.query).toContain('key');
    plan(turns(german)).learn(['Der Schlüssel ist weg.', 'Wir haben ihn nicht.', 'Das ist ein Tor.']);
    expect(plan(turns(german)).asked).toEqual({ query: german, by: 'user' });
  });

  it('is made once for a conversation', () => {
    const { service, asked } = plans();
    const conversation = { query: first, messages: turns(first) };
    const asking = { request: { asksModel: true }, options: {} };
    expect(service.planOf(conversation, asking)).toBe(service.planOf(conversation, asking));
    expect(asked).toHaveLength(1);
  });

  it('does not ask a model that the mega service does not call', async () => {
    const { plan, asked } = plans();
    const made = plan(dialogue('and who paid for it?'), false);
    expect(await made.question).toBe(byWords);
    expect(asked).toEqual([]);
  });

  it.each(['Hello!', 'Thank you very much.', 'What can you do?'])('searches nothing for %j', async (text) => {
    const { plan, asked, looked } = plans();
    for (const messages of [turns(text), dialogue(text)]) {
      const made = plan(messages);
      expect(made.asked).toBeUndefined();
      expect(await made.written).toEqual({ queries: [] });
    }
    expect([asked, looked]).toEqual([[], []]);
  });

  it('lets the model decide what "yes" means in a dialogue', async () => {
    const made = plans().plan(turns(first, 'Ann Lee. Shall I name the sponsors?', 'yes'));
    expect(made.asked).toBeUndefined();
    expect((await made.written).queries).toEqual([rewritten]);
    expect((await plans().plan(turns('yes')).written).queries).toEqual([]);
  });

  it('searches a greeting where no language model answers it', () => {
    expect(plans().plan(turns('Hello'), false).asked).toEqual({ query: 'Hello', by: 'user' });
  });

  it('searches nothing for the tasks of chat pages', async () => {
    const { plan, asked } = plans();
    const task = `### Task:\nGenerate a concise, 3-5 word title with an emoji summarizing the chat history.\n### Output:\nJSON format: { "title": "your concise title here" }\n### Chat History:\n<chat_history>\nUSER: ${first}\n</chat_history>`;
    const made = plan(turns(task));
    expect(made.searches).toBe(false);
    expect(await made.written).toEqual({ queries: [] });
    expect(asked).toEqual([]);
  });

  it('searches with the beginning of a long text', () => {
    const text = 'word '.repeat(1_800_000);
    const made = plans().plan(turns(text));
    expect(made.asked!.query).toBe(text.slice(0, 8_000));
    expect(made.isCut).toBe(true);
  });

  it('searches without the texts of files', async () => {
    const { plan, asked } = plans({ queries: [] });
    const last: ChatMessage = {
      role: 'user',
      content: 'a.txt:\nMelons.\nand who paid for it?',
      files: [{ filename: 'a.txt', at: 0, length: 14 }],
    };
    const made = plan([...turns(first, 'Ann Lee.'), last], true, 'and who paid for it?');
    expect(made.asked!.query).toBe(byWords);
    await made.written;
    expect(JSON.stringify(asked[0])).not.toContain('Melons');
  });
});
