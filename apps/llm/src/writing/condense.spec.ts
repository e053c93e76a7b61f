import type { ChatMessage, GenerationChunk } from '#contracts';
import { describe, expect, it } from 'vitest';
import type { GenerateRequest } from '../tools/tool-format.js';
import { condenseWith } from './condense.js';

const usage = { promptTokens: 9, completionTokens: 3, cachedTokens: 0 };

/** A model that always gives the same answer, and keeps what it was asked. */
function model(text: string, finishReason: GenerationChunk['finishReason'] = 'stop') {
  const asked: GenerateRequest[] = [];
  async function* ask(request: GenerateRequest): AsyncGenerator<GenerationChunk> {
    asked.push(request);
    for (const piece of text.split(/(?<=\s)/)) yield { choice: 0, text: piece };
    yield { choice: 0, text: '', finishReason, usage };
  }
  return { ask, asked, prompt: () => asked[0]?.messages[0]?.content ?? '' };
}

const turns = (...texts: string[]): ChatMessage[] =>
  texts.map((content, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', content }));
const about = (question: string) =>
  turns(
    'Who built the Zorvan observatory?',
    'The Zorvan observatory was built by Ann Lee in 1930. [1]',
    question,
  );
const wanted = 'Who paid for the Zorvan observatory?';

describe('condenseWith', () => {
  it.each([
    wanted,
    `  "${wanted}"\n`,
    `Rewritten question: ${wanted}`,
    `**Question:** ${wanted}`,
    `Here is the question:\n\n${wanted}`,
  ])('takes the question of %j', async (answer) => {
    const { ask, asked } = model(answer);
    expect(await condenseWith(about('and who paid for it?'), ask)).toEqual({ question: wanted, usage });
    expect(asked).toHaveLength(1);
  });

  it('shows the model the turns before, without the marks of citations', async () => {
    const { ask, prompt } = model(wanted);
    await condenseWith(about('and who paid for it?'), ask);
    expect(prompt()).toContain(
      'User: Who built the Zorvan observatory?\nAssistant: The Zorvan observatory was',
    );
    expect(prompt()).toMatch(/1930\.\n\n### Last question:\nand who paid for it\?$/);
  });

  it.each([
    ['', 'empty'],
    ['  \n', 'empty'],
    ['The city of Marl paid for the Zorvan observatory.', 'not_a_question'],
    [`${wanted}\n\nThe city of Marl paid for it.`, 'not_a_question'],
    [`One.\nTwo.\n${wanted}`, 'not_a_question'],
    ['What is the capital of France?', 'off_topic'],
    ['When was Dune written?', 'off_topic'],
    ['And what?', 'off_topic'],
    [`Who paid for ${'the Zorvan observatory and '.repeat(40)}?`, 'too_long'],
  ])('does not use %j: %s', async (answer, problem) => {
    const reply = await condenseWith(about('and who paid for it?'), model(answer).ask);
    expect(reply).toMatchObject({ problem });
    expect(reply).not.toHaveProperty('question');
  });

  it('does not use what was cut off', async () => {
    const { ask } = model(wanted, 'length');
    expect(await condenseWith(about('and who paid for it?'), ask)).toMatchObject({ problem: 'too_long' });
  });

  it('stops a model that goes on and on', async () => {
    let written = 0;
    async function* ask(): AsyncGenerator<GenerationChunk> {
      for (;;) {
        written += 1;
        await Promise.resolve();
        yield { choice: 0, text: 'and so on ' };
      }
    }
    expect(await condenseWith(about('and who paid for it?'), ask)).toEqual({ problem: 'too_long' });
    expect(written).toBeLessThan(200);
  });

  it('takes questions of other languages', async () => {
    const messages = turns('佐尔万天文台是谁建造的？', '安·李。', '什么时候？');
    const question = '佐尔万天文台是什么时候建造的？';
    expect(await condenseWith(messages, model(question).ask)).toMatchObject({ question });
    const other = await condenseWith(messages, model('法国的首都是哪里？').ask);
    expect(other).toMatchObject({ problem: 'off_topic' });
  });

  it.each([
    ['a first question', turns('Who built the Zorvan observatory?')],
    ['instructions alone before it', [{ role: 'system', content: 'Be brief.' }, ...turns('When?')]],
    ['thanks', about('Thanks a lot!')],
    ['a greeting', about('Hello')],
    ['a long question', about('word '.repeat(100))],
    ['no question', about(' ')],
  ] as [string, ChatMessage[]][])('does not ask the model about %s', async (_what, messages) => {
    const { ask, asked } = model(wanted);
    expect(await condenseWith(messages, ask)).toEqual({});
    expect(asked).toEqual([]);
  });

  it('asks with a bounded prompt, however long the conversation is', async () => {
    const { ask, prompt } = model(wanted);
    const long = Array.from({ length: 101 }, (_unused, index) => `${'x'.repeat(5_000)} ${index}`);
    await condenseWith(turns(...long, 'y', 'and who paid for it?').slice(1), ask);
    expect(prompt().length).toBeLessThan(6_000);
  });
});
