import { describe, expect, it } from 'vitest';
import { ExtractiveWriter, questionOf } from './extractive-writer.js';
import { writeSummary } from './write-summary.js';
import { writeFaqOf } from './writing.service.js';

const unit = (x: number, y: number) => {
  const length = Math.hypot(x, y);
  return Float32Array.of(x / length, y / length);
};

describe('questionOf', () => {
  it.each([
    ['A mega service is a graph of services.', 'What is a mega service?'],
    ['To back up MegaNest, stop it and copy this directory.', 'How do I back up MegaNest?'],
    ['If the level falls, the turbine is stopped.', 'What happens when the level falls?'],
    ['Visitors must wear a helmet.', 'What must Visitors do?'],
  ])('asks for "%s"', (sentence, question) => {
    expect(questionOf(sentence)).toBe(question);
  });

  it.each([
    ['It is a graph.', 'leans on what came before'],
    ['Two that fit equally are an error.', 'has no clear subject'],
    ['Installation', 'is no sentence'],
    ['Rain fell for days.', 'has no form that is known'],
  ])('asks nothing for "%s": it %s', (sentence) => {
    expect(questionOf(sentence)).toBeUndefined();
  });
});

describe('ExtractiveWriter', () => {
  const embed = (texts: string[]) =>
    Promise.resolve({ vectors: texts.map((_text, index) => unit(1, index)), promptTokens: texts.length });
  const { signal } = new AbortController();
  const text =
    'Introduction\n\nThe dam is a wall of stone and earth. It is old. To see it, write to the operator first. ' +
    'The water of the lake is used for drinking. Visitors must bring good shoes and a coat.';

  async function write(writer: ExtractiveWriter) {
    let written = '';
    for await (const chunk of writer.write({ kind: 'summary', text }, signal)) written += chunk.text;
    return written;
  }

  it('chooses whole sentences in the order of the text, within the length that is asked for', async () => {
    const summary = await write(new ExtractiveWriter(embed));
    expect(summary).not.toContain('Introduction');
    expect(summary).not.toContain('It is old');
    expect(summary.startsWith('The dam is a wall')).toBe(true);
    const short = await write(new ExtractiveWriter(embed, 20));
    expect(short.split(' ').length).toBeLessThanOrEqual(15);
  });

  it('answers the questions that the sentences make, and says nothing where there are none', async () => {
    const faq = async (of: string, count: number) => {
      let written = '';
      for await (const chunk of writeFaqOf({ text: of, count }, new ExtractiveWriter(embed), signal))
        written += chunk.text;
      return written;
    };
    const pairs = (await faq(text, 2)).split('\n\n');
    expect(pairs).toHaveLength(2);
    for (const pair of pairs) expect(pair).toMatch(/^Q: .+\?\nA: .+\.$/);
    expect(await faq('Rain fell.', 3)).toBe('');
  });

  it.each([
    ['Mr. Smith went. ', 24_000],
    ['Thing 5 is a 35. ', 22_000],
    ['漢字。', 130_000],
    ['Acme Inc. Europe ', 23_000],
    ['a\n\n', 130_000],
    ['. ', 190_000],
    ['x', 390_000],
  ])(
    'summarizes 390 KB of "%s" without holding the event loop',
    { timeout: 60_000 },
    async (piece, count) => {
      const wide = (texts: string[]) => {
        const vectors = texts.map((_text, index) =>
          new Float32Array(384).fill(0).fill(1, index % 384, 1 + (index % 384)),
        );
        return Promise.resolve({ vectors, promptTokens: texts.length });
      };
      const writer = new ExtractiveWriter(wide);
      const held = await longestHold(async () => {
        for await (const chunk of writeSummary({ text: piece.repeat(count), type: 'auto' }, writer, signal))
          expect(chunk.choice).toBe(0);
      });
      expect(held).toBeLessThan(500);
    },
  );
});

/** The most processor time, in milliseconds, between two turns of the event loop while work runs. */
async function longestHold(work: () => Promise<void>): Promise<number> {
  const used = () => (process.cpuUsage().user + process.cpuUsage().system) / 1000;
  let [longest, before, running] = [0, used(), true];
  const turn = () => {
    longest = Math.max(longest, used() - before);
    before = used();
    if (running) setImmediate(turn);
  };
  setImmediate(turn);
  await work();
  running = false;
  return longest;
}
