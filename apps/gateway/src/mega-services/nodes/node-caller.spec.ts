import { MegaNestError, type ChatMessage, type ModelInfo } from '#contracts';
import type { CallOptions } from '#messaging';
import { describe, expect, it } from 'vitest';
import { QuestionCondenser } from './node-caller.js';

const turns = (...texts: string[]): ChatMessage[] =>
  texts.map((content, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', content }));
const followUp = {
  query: 'and who paid for it?',
  messages: turns('Who built the Zorvan observatory?', 'Ann Lee.', 'and who paid for it?'),
};
const rewritten = 'Who paid for the Zorvan observatory?';
const byWords = 'and who paid for it? Zorvan built observatory Lee';

/** `answer`: the reply of the language model's service. Without it, the model cannot condense. */
function condenser(answer?: () => Promise<object>) {
  const asked: CallOptions[] = [];
  const reports: object[] = [];
  const client = {
    request: (_method: unknown, _request: unknown, options: CallOptions) => {
      asked.push(options);
      return answer!();
    },
  };
  const info = { id: 'm', ...(answer && { condensesWithinMs: 3_000 }) } as ModelInfo;
  const service = new QuestionCondenser(client as never, { llm: () => Promise.resolve(info) });
  const ask = (conversation = followUp, { asksModel = true, deadline = Date.now() + 60_000 } = {}) =>
    service.searchedFor(conversation, {
      request: { asksModel },
      options: { deadline },
      report: (details) => void reports.push(details),
    });
  return { ask, asked, reports };
}

describe('QuestionCondenser', () => {
  it('searches with the beginning of a long text, and says so', async () => {
    const { ask, reports } = condenser();
    const text = 'word '.repeat(1_800_000);
    const alone = { messages: [{ role: 'user' as const, content: text }], query: text };
    expect(await ask(alone)).toBe(text.slice(0, 8_000));
    expect(reports).toEqual([{ degraded: { query: 'cut to 8000 characters' } }]);
  });

  it('searches without the texts of files', async () => {
    const { ask } = condenser();
    const files = [{ filename: 'a.txt', at: 0, length: 13 }];
    const messages: ChatMessage[] = [
      { role: 'user', content: 'a.txt:\nMelons.', files: [{ ...files[0]!, length: 14 }] },
      { role: 'user', content: rewritten },
    ];
    expect(await ask({ messages, query: rewritten })).toBe(rewritten);
    const again = [...turns('Who built the Zorvan observatory?', 'Ann Lee.'), { ...messages[0]! }];
    again[2]!.content += '\nand who paid for it?';
    expect(await ask({ messages: again, query: 'and who paid for it?' })).toBe(byWords);
  });

  it('searches with the question of the model, which is asked once for a conversation', async () => {
    const { ask, asked, reports } = condenser(() => Promise.resolve({ question: rewritten }));
    expect(await Promise.all([ask(), ask()])).toEqual([rewritten, rewritten]);
    expect(await ask()).toBe(rewritten);
    expect(asked).toHaveLength(1);
    expect(reports).toEqual([{ searched: { question: rewritten, by: 'model' } }]);
  });

  it.each([
    ['a problem of the answer', () => Promise.resolve({ problem: 'empty' }), 'empty'],
    [
      'a timeout',
      () => Promise.reject(new MegaNestError('deadline_exceeded', { detail: '' })),
      'deadline_exceeded',
    ],
    ['a broken engine', () => Promise.reject(new Error('reset')), 'internal_error'],
  ])('adds words where there is %s, and reports it', async (_what, answer, problem) => {
    const { ask, reports } = condenser(answer);
    const question = await ask();
    expect(question).toBe(byWords);
    expect(reports).toEqual([
      { searched: { question: byWords, by: 'words' } },
      { degraded: { condensing: problem } },
    ]);
  });

  it('adds words in silence where the model does not condense, or is not asked by the mega service', async () => {
    const silent = condenser();
    expect(await silent.ask()).toBe(byWords);
    expect(silent.reports).toEqual([{ searched: { question: byWords, by: 'words' } }]);
    const other = condenser(() => Promise.resolve({ question: rewritten }));
    expect(await other.ask(followUp, { asksModel: false })).toBe(byWords);
    expect(other.asked).toEqual([]);
  });

  it('leaves a first question alone', async () => {
    const { ask, asked, reports } = condenser(() => Promise.resolve({ question: rewritten }));
    const first = { query: 'When?', messages: turns('When?') };
    expect(await ask(first)).toBe('When?');
    expect([asked, reports]).toEqual([[], []]);
  });

  it('gives the model its own limit, and a quarter of the time that is left at most', async () => {
    const limited = async (leftMs: number) => {
      const { ask, asked } = condenser(() => Promise.resolve({ question: rewritten }));
      await ask(followUp, { deadline: Date.now() + leftMs });
      return asked[0]!.deadline! - Date.now();
    };
    const roomy = await limited(60_000);
    expect(roomy).toBeGreaterThan(2_000);
    expect(roomy).toBeLessThanOrEqual(3_000);
    expect(await limited(4_000)).toBeLessThanOrEqual(1_000);
  });
});
